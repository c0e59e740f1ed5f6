"""The commands that measure. What they do is imported when they are called."""

from __future__ import annotations

import click

from kruntimes_core.cli.lazy import LazyGroup


# "engine" (kruntimes_core.cli.bench.engine.command:engine) is named here by the commit that brings it.
@click.group(cls=LazyGroup, lazy={})
def bench() -> None:
    """Measure how fast Runs are placed."""
