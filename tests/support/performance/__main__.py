"""`python -m performance` measures, and writes the figures of the engine into docs/performance.md."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from performance.engine import ROWS, table

PAGE = Path(__file__).parents[3] / "docs" / "performance.md"
BEGIN, END = "<!-- figures of the engine -->\n", "<!-- end of figures -->"


@cache
def measured(command: str) -> dict[str, Any]:
    """The report of a command; each is run once."""
    print(command, file=sys.stderr)  # noqa: T201 - this takes minutes
    arguments = [*shlex.split(command)[1:], "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments], stdout=subprocess.PIPE, check=True
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def write(lines: Iterable[str]) -> None:
    """Put the table into its place on the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "".join(f"{line}\n" for line in lines) + END + after)


if __name__ == "__main__":
    write(table(row.cells(row.read(measured(row.command))) for row in ROWS))
