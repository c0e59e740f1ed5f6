"""The pages with figures: their tables lie between marks, and what measures a table writes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_DOCS = Path(__file__).parents[3] / "docs"
LIVE = _DOCS / "performance" / "live.md"
ENGINE = _DOCS / "performance" / "engine.md"
SIZING = _DOCS / "how-to" / "size-an-installation.md"
END = "<!-- end of figures -->\n"


def begin(section: str) -> str:
    """The mark above the figures of a section."""
    return f"<!-- figures of {section} -->\n"


def shown(section: str, text: str) -> str:
    """What the text of a page has between the marks of a section."""
    return text.partition(begin(section))[2].partition(END)[0]


def write(section: str, lines: Iterable[str], path: Path) -> None:
    """Put the lines between the marks of a section. Raises `LookupError` for a page without these marks."""
    before, found, rest = path.read_text().partition(begin(section))
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise LookupError(f"{path} has no place for the figures of {section}: write both marks into it")
    path.write_text(before + found + "".join(f"{line}\n" for line in lines) + ended + after)


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    titles = list(headings)
    return [_line(titles), _line("---" for _ in titles), *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
