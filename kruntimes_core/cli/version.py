"""`kruntimes version`: what is running."""

from __future__ import annotations

import platform

import click

from kruntimes_core import __version__
from kruntimes_core.cli.exits import Exit


@click.command()
def version() -> Exit:
    """Show the versions of kruntimes and of its Python."""
    click.echo(f"kruntimes {__version__} (Python {platform.python_version()})")
    return Exit.DONE
