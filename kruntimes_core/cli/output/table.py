"""Tables as kubectl prints them: columns of text, three spaces apart, no lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.text import printable, shortened, width

NONE = "<none>"
_GAP = "   "
# A message cut to less than this says nothing: then the line may rather wrap.
_LEAST_COLUMNS = 20


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and the colours of the words in it that have one."""

    heading: str
    colours: Mapping[str, str] = field(default_factory=dict)


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[object]], screen: Screen, indent: str = ""
) -> Iterator[str]:
    """The lines of a table. In: rows of values, None or an empty text for what does not apply.

    The last column takes what is left of the screen and is cut there; the others are never cut.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    headings = [column.heading for column in columns]
    *widths, _ = (max(map(width, below)) for below in zip(headings, *cells, strict=True))
    room = _room(widths, screen, indent)
    yield indent + _line(headings, headings, widths, room)
    for row in cells:
        painted = [
            screen.painted(cell, column.colours.get(cell)) for cell, column in zip(row, columns, strict=True)
        ]
        yield indent + _line(row, painted, widths, room)


def _cell(value: object) -> str:
    return NONE if value is None or value == "" else printable(str(value))


def _room(widths: Sequence[int], screen: Screen, indent: str) -> int | None:
    """How many columns the last cell of a line may take."""
    if screen.columns is None:
        return None
    left = screen.columns - len(indent) - sum(widths) - len(_GAP) * len(widths)
    return max(left, _LEAST_COLUMNS)


def _line(cells: Sequence[str], painted: Sequence[str], widths: Sequence[int], room: int | None) -> str:
    """The cells side by side; colours take no room, so that widths are those of the plain cells."""
    padded = [
        colour + " " * (columns - width(cell))
        for cell, colour, columns in zip(cells[:-1], painted[:-1], widths, strict=True)
    ]
    last = painted[-1] if room is None or width(cells[-1]) <= room else shortened(cells[-1], room)
    return _GAP.join([*padded, last])
