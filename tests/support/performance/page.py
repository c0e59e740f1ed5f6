"""The page of figures: its tables lie between marks, and are written by what measured them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "performance.md"
END = "<!-- end of figures -->\n"


def begin(section: str) -> str:
    """The mark above the figures of a section."""
    return f"<!-- figures of {section} -->\n"


def shown(section: str, text: str | None = None) -> str:
    """What stands in a section of the page, or of the text of another one."""
    return (PAGE.read_text() if text is None else text).partition(begin(section))[2].partition(END)[0]


def write(section: str, lines: Iterable[str], path: Path = PAGE) -> None:
    """Put the lines into the place of a section. Raises `LookupError` for a page that has no such place."""
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
