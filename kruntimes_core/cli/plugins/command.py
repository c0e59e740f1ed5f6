"""The options of the commands about plugins. What they do is imported when they are called."""

from __future__ import annotations

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.lazy import LazyGroup
from kruntimes_core.cli.options import CONFIG
from kruntimes_core.cli.output.forms import FORMS, form_option


@click.group(cls=LazyGroup, lazy={"list": "kruntimes_core.cli.plugins.command:list_plugins"})
def plugins() -> None:
    """Look at the installed plugins."""


@click.command("list")
@CONFIG
@form_option(FORMS, "How to show them. wide: with the profile, also if there is only one.")
def list_plugins(config: str | None, form: str) -> Exit:
    """List every installed plugin, whether it is active, and why not.

    First those that are active, in the order in which they are asked, then the others by name; with
    several profiles, each profile's. WEIGHT is shown for scorers only: to others it means nothing.

    Works when the scheduler would not start: a broken plugin is a row of the list, and what keeps the
    scheduler from starting is said on standard error.

    Exit codes: 0 the scheduler would start, 1 it would not, 2 the configuration cannot be read.
    """
    from kruntimes_core.cli.plugins.listing import list_installed

    return list_installed(config, form)
