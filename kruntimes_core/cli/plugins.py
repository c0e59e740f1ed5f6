"""`kruntimes plugins list` answers "why is my plugin not called?", even where no scheduler would start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from kruntimes_core.cli.commands import Exit, LazyGroup, with_time_limit
from kruntimes_core.cli.options import CONFIG, FORMS, output_option
from kruntimes_core.cli.output.screen import Screen, print_lines, print_note, standard_output
from kruntimes_core.cli.output.table import table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.model.messages import InputError

if TYPE_CHECKING:
    from kruntimes_core.framework.configuration import BuildAttempts, Configuration, PluginState
    from kruntimes_core.framework.plugin_registry import PluginRegistry

# The command imports what it needs when it runs: help needs neither pydantic nor YAML nor the plugins.

_HEADINGS = ("PROFILE", "NAME", "DISTRIBUTION", "VERSION", "STATE", "HOOKS", "WEIGHT", "WHY NOT")
_STATES = {"active": "green", "broken": "red", "duplicate": "red", "shadowed": "yellow", "unknown": "yellow"}


@click.group(cls=LazyGroup)
def plugins() -> None:
    """List the installed plugins."""


@plugins.command("list")
@CONFIG
@output_option(FORMS, "How to show them. wide: with the profile, also if there is only one.")
def list_plugins(config: str | None, form: str) -> Exit:
    """List every installed plugin, whether it is active, and if not, why.

    The active plugins come first, in the order in which they are called, then the others by name. With
    several profiles, the list repeats for each profile. WEIGHT is shown for scorers only: other plugins have
    none.

    Works even where the scheduler would not start: a broken plugin is a row of the list, and standard error
    says what keeps the scheduler from starting.

    Exit codes: 0 the scheduler would start, 1 it would not, 2 the configuration cannot be read, or a plugin
    hangs while it is imported or built.
    """
    from kruntimes_core.framework.configuration import configuration_from, describe_plugins
    from kruntimes_core.framework.plugin_registry import PluginRegistry

    registry = PluginRegistry()
    calls = with_time_limit(registry.current)
    try:
        configuration = configuration_from(config)
    except InputError as error:
        _show(describe_plugins(None, registry), form)
        print_note(f"error: {error}")
        return Exit.BAD_INPUT
    attempts: BuildAttempts = {}
    why_not = calls.call(lambda: _why_not(configuration, registry, attempts))
    _show(calls.call(lambda: describe_plugins(configuration, registry, attempts)), form)
    if why_not is not None:
        print_note(f"the scheduler would not start: {why_not}")
        return Exit.ANSWER_IS_NO
    if not registry.names:
        print_note("no plugins are installed")
    return Exit.DONE


def _why_not(configuration: Configuration, registry: PluginRegistry, attempts: BuildAttempts) -> str | None:
    """Why the scheduler would not start; None where it would. attempts: see `build_profiles`."""
    from kruntimes_core.framework.configuration import SUPPLIED, build_profiles, to_install
    from kruntimes_core.framework.plugin_registry import HangingPluginError

    try:
        build_profiles(configuration, registry, attempts=attempts)
    except HangingPluginError:
        raise
    except InputError as error:
        return str(error) if registry.names else f"no plugins are installed: {to_install(*SUPPLIED)}"
    return None


def _show(states: Sequence[PluginState], form: str) -> None:
    from kruntimes_core.cli.output.documents import write_json, write_yaml
    from kruntimes_core.framework.configuration import plugins_document

    if form == "json":
        write_json(plugins_document(states))
    elif form == "yaml":
        write_yaml(plugins_document(states))
    elif form == "name":
        for name in dict.fromkeys(state.name for state in states):
            click.echo(printable(name))
    elif states:
        screen = standard_output()
        print_lines(_table(states, screen, wide=form == "wide"), screen)


def _table(states: Sequence[PluginState], screen: Screen, *, wide: bool) -> Iterator[str]:
    """The lines of the table. It names the profile where there are several, and in the wide form."""
    first = 0 if wide or len({state.profile for state in states}) > 1 else 1
    rows = [_row(state)[first:] for state in states]
    return table(_HEADINGS[first:], rows, screen, whole=True, colours={"STATE": _STATES})


def _row(state: PluginState) -> tuple[object, ...]:
    hooks = ",".join(state.hooks)
    about = (state.profile, state.name, state.distribution, state.version, state.state)
    return (*about, hooks, state.weight, state.why)
