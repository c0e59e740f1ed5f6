"""The options of the commands about the configuration. What they do is imported when they are called."""

from __future__ import annotations

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.lazy import LazyGroup
from kruntimes_core.cli.options import CONFIG
from kruntimes_core.cli.output.forms import form_option

_HERE = "kruntimes_core.cli.config.command"


@click.group(
    cls=LazyGroup,
    lazy={"schema": f"{_HERE}:schema", "show": f"{_HERE}:show", "validate": f"{_HERE}:validate"},
)
def config() -> None:
    """Check a configuration, and show what it means."""


@click.command()
@click.argument("file", metavar="FILE")
def validate(file: str) -> Exit:
    """Check the configuration in FILE, or - for standard input, as the scheduler does when it starts.

    Names and arguments are checked against the plugins that are installed here.

    Exit codes: 0 the scheduler would start with it, 2 it would not.
    """
    from kruntimes_core.cli.config.checking import check

    return check(file)


@click.command()
def schema() -> Exit:
    """Print the JSON Schema of the configuration, with the installed plugins' arguments."""
    from kruntimes_core.cli.config.checking import print_schema

    return print_schema()


@click.command()
@CONFIG
@form_option(
    ("table", "yaml", "json"),
    "How to show it. yaml and json: as a configuration file that leaves nothing open.",
)
def show(config: str | None, form: str) -> Exit:
    """Show what holds: every setting, and each profile's plugins in their order, and where it is said.

    Exit codes: 0 done, 2 the scheduler would not start with it.
    """
    from kruntimes_core.cli.config.showing import show_effective

    return show_effective(config, form)
