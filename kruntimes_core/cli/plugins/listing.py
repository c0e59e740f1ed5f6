"""`kruntimes plugins list`: the answer to "why is my plugin not asked?", also on a broken host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.output.documents import write_json, write_yaml
from kruntimes_core.cli.output.screen import Screen, standard_output
from kruntimes_core.cli.output.table import Column, table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.framework.configuration import (
    Configuration,
    PluginState,
    build_profiles,
    configuration_from,
    describe,
)
from kruntimes_core.framework.configuration.selection import SUPPLIED, distribution_of
from kruntimes_core.framework.loading.catalog import Catalog
from kruntimes_core.model.errors import InputError

API_VERSION = "kruntimes.io/plugins/v1"
_STATES = {"active": "green", "broken": "red", "duplicate": "red", "unknown": "yellow"}
_COLUMNS = (
    Column("NAME"),
    Column("DISTRIBUTION"),
    Column("VERSION"),
    Column("STATE", _STATES),
    Column("HOOKS"),
    Column("WEIGHT"),
)
_WIDE = (Column("PROFILES"),)
_WHY_NOT = Column("WHY NOT")


def list_installed(config: str | None, form: str) -> Exit:
    """Show what is installed; with a configuration that cannot be read, without knowing what is active."""
    catalog = Catalog()
    try:
        configuration = configuration_from(config)
    except InputError as error:
        _show(describe(None, catalog), form)
        _say(f"error: {error}")
        return Exit.BAD_INPUT
    _show(describe(configuration, catalog), form)
    _say_what_is_wrong(configuration, catalog)
    return Exit.DONE


def _say_what_is_wrong(configuration: Configuration, catalog: Catalog) -> None:
    if not catalog.names:
        packages = " ".join(distribution_of(name) for name in SUPPLIED)
        _say(f"no plugins are installed, so nothing can be decided: pip install {packages}")
        return
    try:
        build_profiles(configuration, catalog)
    except InputError as error:
        _say(f"the scheduler would not start: {error}")


def _show(states: Sequence[PluginState], form: str) -> None:
    if form == "json":
        write_json(_document(states))
    elif form == "yaml":
        write_yaml(_document(states))
    elif form == "name":
        for state in states:
            click.echo(printable(state.name))
    elif states:
        screen = standard_output()
        for line in _table(states, screen, wide=form == "wide"):
            click.echo(line, color=screen.colour)


def _document(states: Sequence[PluginState]) -> dict[str, Any]:
    """The list for other programs; keys in the order of the table's columns."""
    plugins = [
        {
            "name": state.name,
            "distribution": state.distribution,
            "version": state.version,
            "state": state.state.value,
            "hooks": list(state.hooks),
            "weight": state.weight,
            "profiles": list(state.profiles),
            "why": state.why or None,
        }
        for state in states
    ]
    return {"apiVersion": API_VERSION, "plugins": plugins}


def _table(states: Sequence[PluginState], screen: Screen, *, wide: bool) -> Iterator[str]:
    columns = (*_COLUMNS, *(_WIDE if wide else ()), _WHY_NOT)
    return table(columns, [_row(state, wide=wide) for state in states], screen)


def _row(state: PluginState, *, wide: bool) -> tuple[object, ...]:
    hooks, profiles = ",".join(state.hooks), ",".join(state.profiles)
    common = (state.name, state.distribution, state.version, state.state, hooks, state.weight)
    return (*common, profiles, state.why) if wide else (*common, state.why)


def _say(line: str) -> None:
    click.echo(printable(line), err=True)
