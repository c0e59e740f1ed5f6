"""Tables as kubectl prints them: columns of text, three spaces apart, no lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.text import printable, shortened, width, wrapped

NONE = "<none>"
_GAP = "   "
# A message cut to less than this says nothing.
_LEAST_COLUMNS = 20


Colours = Mapping[str, Mapping[str, str]]
_NO_COLOURS: Colours = MappingProxyType({})


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    screen: Screen,
    indent: str = "",
    *,
    whole: bool = False,
    colours: Colours = _NO_COLOURS,
) -> Iterator[str]:
    """The lines of a table. rows: of values; None or an empty text where a value does not apply.

    colours: by heading, and by the values that have one.

    The last column gets the rest of the screen, the others are never cut. A longer text in it is cut, or
    (whole) goes on in further lines. Where next to nothing is left, the column is left out, or (whole) runs
    over the edge.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    *widths, _ = (max(map(width, below)) for below in zip(headings, *cells, strict=True))
    room = _room(widths, screen, indent)
    if room is not None and room < _LEAST_COLUMNS:
        if not whole and len(headings) > 1:
            endless = Screen(colour=screen.colour)
            yield from table(headings[:-1], [row[:-1] for row in cells], endless, indent, colours=colours)
            return
        room = None
    yield indent + _line(headings, headings, widths)
    for row in cells:
        palettes = [colours.get(heading, {}) for heading in headings]
        *painted, _ = (
            screen.painted(cell, palette.get(cell)) for cell, palette in zip(row, palettes, strict=True)
        )
        first, *more = _fitted(row[-1], room, whole=whole)
        yield indent + _line(row, [*painted, screen.painted(first, palettes[-1].get(first))], widths)
        for piece in more:
            yield indent + _line([""] * len(row), [*[""] * len(widths), piece], widths)


def _cell(value: object) -> str:
    return NONE if value is None or value == "" else printable(str(value))


def _room(widths: Sequence[int], screen: Screen, indent: str) -> int | None:
    """How many columns of the screen are left for the last cell of a line."""
    if screen.columns is None:
        return None
    return screen.columns - len(indent) - sum(widths) - len(_GAP) * len(widths)


def _fitted(cell: str, room: int | None, *, whole: bool) -> list[str]:
    """The last cell of a row in lines that fit."""
    if room is None:
        return [cell]
    return wrapped(cell, room) if whole else [shortened(cell, room)]


def _line(cells: Sequence[str], painted: Sequence[str], widths: Sequence[int]) -> str:
    """The cells side by side; colours take no room, so that widths are those of the plain cells."""
    padded = [
        colour + " " * (columns - width(cell))
        for cell, colour, columns in zip(cells[:-1], painted[:-1], widths, strict=True)
    ]
    return _GAP.join([*padded, painted[-1]])
