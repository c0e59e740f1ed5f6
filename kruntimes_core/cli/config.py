"""`kruntimes config`: check a configuration, and show what it means."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from kruntimes_core.cli.commands import Exit, LazyGroup, with_time_limit
from kruntimes_core.cli.options import CONFIG, output_option
from kruntimes_core.cli.output.screen import (
    Screen,
    note_waiting,
    print_lines,
    print_note,
    print_notes,
    standard_output,
)
from kruntimes_core.cli.output.table import table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.model.messages import counted

if TYPE_CHECKING:
    from kruntimes_core.framework.configuration import ActiveEntry, Setting

# The commands import what they need when they run: help needs neither pydantic nor YAML nor the plugins.

_SETTINGS = ("FIELD", "VALUE", "FROM")
_PLUGINS = ("PROFILE", "RUNTIMES", "PLUGIN", "WEIGHT", "ARGUMENTS", "DISTRIBUTION", "VERSION", "FROM")


@click.group(cls=LazyGroup)
def config() -> None:
    """Check a configuration, and show what it means."""


@config.command()
@click.argument("file", metavar="FILE")
def validate(file: str) -> Exit:
    """Check the configuration in FILE, or - for standard input.

    The check is the one that the scheduler makes when it starts, with the names and arguments of plugins.

    Exit codes: 0 the scheduler would start with this configuration, 2 it would not.
    """
    from kruntimes_core.framework.configuration import build_profiles, configuration_from, load_configuration
    from kruntimes_core.framework.plugin_registry import PluginRegistry
    from kruntimes_core.model.yaml_files import SETTINGS_BYTES, read_stream

    if file == "-":
        name = "standard input"
        note_waiting("a configuration")
        configuration = load_configuration(read_stream(sys.stdin.buffer, name, SETTINGS_BYTES), name)
    else:
        name, configuration = file, configuration_from(file)
    registry = PluginRegistry()
    profiles = with_time_limit(registry.current).call(lambda: build_profiles(configuration, registry))
    named = ", ".join(f"{one.name} ({counted(len(one.plugins), 'plugin')})" for one in profiles.all)
    empty = "; it sets nothing: all defaults hold" if configuration.sets_nothing else ""
    click.echo(printable(f"{name} is valid: {named}{empty}"))
    return Exit.DONE


@config.command()
def schema() -> Exit:
    """Print the JSON Schema of the configuration.

    The arguments of the installed plugins are part of it.
    """
    from kruntimes_core.cli.output.documents import write_json
    from kruntimes_core.framework.configuration import configuration_schema
    from kruntimes_core.framework.plugin_registry import PluginRegistry

    registry = PluginRegistry()
    described = with_time_limit(registry.current).call(lambda: configuration_schema(registry))
    write_json(described.document)
    # The plugins whose arguments the schema does not check.
    print_notes(described.problems)
    return Exit.DONE


@config.command()
@CONFIG
@output_option(
    ("table", "yaml", "json"),
    "How to show the settings. yaml and json: as a configuration file with every setting written out.",
)
def show(config: str | None, form: str) -> Exit:
    """Show the resulting settings and plugins, and where each is set.

    The plugins of each profile are in the order in which they are called.

    Exit codes: 0 success, 2 the scheduler would not start with this configuration.
    """
    from kruntimes_core.cli.output.documents import write_json, write_yaml
    from kruntimes_core.framework.configuration import (
        active_entries,
        build_profiles,
        configuration_from,
        effective_document,
        effective_settings,
    )
    from kruntimes_core.framework.plugin_registry import PluginRegistry

    configuration, registry = configuration_from(config), PluginRegistry()
    with_time_limit(registry.current).call(lambda: build_profiles(configuration, registry))
    entries = list(active_entries(configuration, registry))
    if form == "table":
        screen = standard_output()
        print_lines(_tables(effective_settings(configuration), entries, screen), screen)
    else:
        write = {"json": write_json, "yaml": write_yaml}[form]
        write(effective_document(configuration, registry))
    if hidden := [one.name for one in entries if one.masked]:
        print_note(f"secrets are masked (of {', '.join(hidden)}): a file with masks is refused")
    return Exit.DONE


def _tables(settings: Iterable[Setting], entries: Iterable[ActiveEntry], screen: Screen) -> Iterator[str]:
    yield from table(
        _SETTINGS, ((one.field, _json(one.value), one.origin) for one in settings), screen, whole=True
    )
    rows = [_row(one) for one in entries]
    if rows:
        yield ""
        yield from table(_PLUGINS, rows, screen, whole=True)


def _row(one: ActiveEntry) -> tuple[object, ...]:
    runtimes = "all others" if one.runtimes is None else ",".join(one.runtimes)
    arguments = None if one.arguments is None else _json(one.arguments)
    return (
        *(one.profile, runtimes, one.name, one.weight, arguments),
        *(one.distribution, one.version, one.origin),
    )


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
