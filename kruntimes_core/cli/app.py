"""The tree of commands."""

from __future__ import annotations

import click

from kruntimes_core import __version__
from kruntimes_core.cli.lazy import LazyGroup

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group(
    cls=LazyGroup,
    lazy={
        "bench": "kruntimes_core.cli.bench.command:bench",
        "config": "kruntimes_core.cli.config.command:config",
        "dev": "kruntimes_core.cli.dev.command:dev",
        "plan": "kruntimes_core.cli.plan.command:plan",
        "plugins": "kruntimes_core.cli.plugins.command:plugins",
        "scheduler": "kruntimes_core.cli.scheduler.command:scheduler",
        "version": "kruntimes_core.cli.version:version",
    },
    context_settings=_SETTINGS,
)
@click.version_option(__version__, prog_name="kruntimes", message="%(prog)s %(version)s")
def app() -> None:
    """Place Runs on warm Runtime Pods, by rules that anybody can install.

    Exit codes: 0 done, 1 the answer is no (a Run does not fit, a check fails), 2 bad input.
    """
