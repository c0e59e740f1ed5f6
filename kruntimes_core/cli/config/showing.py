"""`kruntimes config show`: the answer to "which weight holds, and who says so?"."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.output.documents import write_json, write_yaml
from kruntimes_core.cli.output.screen import standard_output
from kruntimes_core.cli.output.table import Column, table
from kruntimes_core.framework.configuration import (
    ActiveEntry,
    Configuration,
    Setting,
    active_entries,
    build_profiles,
    configuration_from,
    effective_document,
    effective_settings,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry

_SETTINGS = tuple(map(Column, ("FIELD", "VALUE", "FROM")))
_PLUGINS = tuple(
    map(Column, ("PROFILE", "RUNTIMES", "PLUGIN", "WEIGHT", "ARGUMENTS", "DISTRIBUTION", "VERSION", "FROM"))
)
_ALL_OTHERS = "all others"


def show_effective(config: str | None, form: str) -> Exit:
    """Show what holds. Raises: `InputError` for what the scheduler would not start with."""
    configuration, registry = configuration_from(config), PluginRegistry()
    build_profiles(configuration, registry)
    if form == "json":
        write_json(effective_document(configuration, registry))
    elif form == "yaml":
        write_yaml(effective_document(configuration, registry))
    else:
        _show_tables(configuration, registry)
    return Exit.DONE


def _show_tables(configuration: Configuration, registry: PluginRegistry) -> None:
    screen = standard_output()
    fields = [_setting(one) for one in effective_settings(configuration)]
    plugins = [_plugin(one) for one in active_entries(configuration, registry)]

    def lines() -> Iterator[str]:
        yield from table(_SETTINGS, fields, screen, whole=True)
        if plugins:
            yield ""
            yield from table(_PLUGINS, plugins, screen, whole=True)

    for line in lines():
        click.echo(line, color=screen.colour)


def _setting(one: Setting) -> tuple[object, ...]:
    return one.field, _json(one.value), one.origin


def _plugin(one: ActiveEntry) -> tuple[object, ...]:
    runtimes = _ALL_OTHERS if one.runtimes is None else ",".join(one.runtimes)
    arguments = None if one.arguments is None else _json(one.arguments)
    return (
        one.profile,
        runtimes,
        one.name,
        one.weight,
        arguments,
        one.distribution,
        one.version,
        one.origin,
    )


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
