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
    SUPPLIED,
    Configuration,
    PluginState,
    build_profiles,
    configuration_from,
    describe_plugins,
    to_install,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

API_VERSION = "kruntimes.io/plugins/v1"
_STATES = {"active": "green", "broken": "red", "duplicate": "red", "unknown": "yellow"}
_COLUMNS = (
    Column("NAME"),
    Column("DISTRIBUTION"),
    Column("VERSION"),
    Column("STATE", _STATES),
    Column("HOOKS"),
    Column("WEIGHT"),
    Column("WHY NOT"),
)
_PROFILE = Column("PROFILE")


def list_installed(config: str | None, form: str) -> Exit:
    """Show what is installed; with a configuration that cannot be read, without knowing what is active."""
    registry = PluginRegistry()
    try:
        configuration = configuration_from(config)
    except InputError as error:
        _show(describe_plugins(None, registry), form)
        _say(f"error: {error}")
        return Exit.BAD_INPUT
    _show(describe_plugins(configuration, registry), form)
    return Exit.DONE if _would_start(configuration, registry) else Exit.ANSWER_IS_NO


def _would_start(configuration: Configuration, registry: PluginRegistry) -> bool:
    """Whether the scheduler would; says why not, and why a list is empty."""
    try:
        build_profiles(configuration, registry)
    except InputError as error:
        why = str(error) if registry.names else f"no plugins are installed: {to_install(*SUPPLIED)}"
        _say(f"the scheduler would not start: {why}")
        return False
    if not registry.names:
        _say("no plugins are installed")
    return True


def _show(states: Sequence[PluginState], form: str) -> None:
    if form == "json":
        write_json(_document(states))
    elif form == "yaml":
        write_yaml(_document(states))
    elif form == "name":
        for name in dict.fromkeys(state.name for state in states):
            click.echo(printable(name))
    elif states:
        screen = standard_output()
        for line in _table(states, screen, wide=form == "wide"):
            click.echo(line, color=screen.colour)


def _document(states: Sequence[PluginState]) -> dict[str, Any]:
    """The list for other programs; keys in the order of the table's columns."""
    plugins = [
        {
            "profile": state.profile,
            "name": state.name,
            "distribution": state.distribution,
            "version": state.version,
            "state": state.state.value,
            "hooks": list(state.hooks),
            "weight": state.weight,
            "why": state.why or None,
        }
        for state in states
    ]
    return {"apiVersion": API_VERSION, "plugins": plugins}


def _table(states: Sequence[PluginState], screen: Screen, *, wide: bool) -> Iterator[str]:
    """The lines of the table. The profile is named where there are several, and when asked for."""
    profiles = wide or len({state.profile for state in states}) > 1
    columns = (*([_PROFILE] if profiles else []), *_COLUMNS)
    return table(columns, [_row(state, profiles=profiles) for state in states], screen, whole=True)


def _row(state: PluginState, *, profiles: bool) -> tuple[object, ...]:
    hooks = ",".join(state.hooks)
    row = (state.name, state.distribution, state.version, state.state, hooks, state.weight, state.why)
    return (state.profile, *row) if profiles else row


def _say(line: str) -> None:
    click.echo(printable(line), err=True)
