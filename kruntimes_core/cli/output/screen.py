"""What standard output is: a terminal of some width, with or without colour, or something else."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class Screen:
    """How wide a table may be (None: as wide as it is, nothing is cut) and whether to colour it."""

    columns: int | None = None
    colour: bool = False

    def painted(self, text: str, colour: str | None) -> str:
        """`text` in a colour by click's name for it, where this screen has colours."""
        return click.style(text, fg=colour) if self.colour and colour else text


def standard_output() -> Screen:
    """The screen behind standard output; no colour where NO_COLOR is set (https://no-color.org)."""
    if not sys.stdout.isatty():
        return Screen()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Screen(shutil.get_terminal_size().columns, not plain)
