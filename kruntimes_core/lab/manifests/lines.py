"""The lines of fields, found only when something has to be said about them.

Keeping a line for every field of a dump would cost more than reading it. So a place is remembered
as a path, and one more pass over the text finds the lines of all places that errors name, whatever
their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kruntimes_core.lab.manifests.json_walk import find_in_json
from kruntimes_core.lab.manifests.sources import Source
from kruntimes_core.lab.manifests.wanted import Step, Wanted
from kruntimes_core.lab.manifests.yaml_walk import find_in_yaml
from kruntimes_core.model.yaml_files import JsonError, decode, looks_like_json, read_json


@dataclass(frozen=True, slots=True)
class Place:
    """A field of a source: the number of its document, the line where that starts, and the path in it."""

    source: Source
    document: int
    line: int
    path: tuple[Step, ...] = ()

    def at(self, *steps: Step) -> Place:
        """The place of a field below this one."""
        return Place(self.source, self.document, self.line, (*self.path, *steps))


def name_places(places: Iterable[Place]) -> dict[Place, str]:
    """`FILE:LINE` of each place; of the nearest field around it where it is missing from the text."""
    by_source: dict[Source, list[Place]] = defaultdict(list)
    for place in places:
        by_source[place.source].append(place)
    names = {}
    for source, inside in by_source.items():
        names.update({place: f"{source.name}:{line}" for place, line in _lines(source, inside)})
    return names


def name_place(place: Place) -> str:
    """`FILE:LINE` of one place."""
    return name_places([place])[place]


def _lines(source: Source, places: list[Place]) -> Iterable[tuple[Place, int]]:
    documents: dict[int, Wanted] = defaultdict(Wanted)
    trails = {place: documents[place.document].trail(place.path) for place in places}
    if any(place.path for place in places):
        _find(source, documents)
    for place, trail in trails.items():
        yield place, next((node.line for node in reversed(trail) if node.line), place.line)


def _find(source: Source, documents: dict[int, Wanted]) -> None:
    text = decode(source.content, source.name)
    try:
        starts = [offset for offset, _ in read_json(text)] if looks_like_json(text) else []
    except JsonError:
        starts = []
    for number in documents if starts else ():
        find_in_json(text, starts[number], documents[number])
    if not starts:
        find_in_yaml(text, documents)
