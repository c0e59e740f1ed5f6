"""The lines of fields, found only when something has to be said about them.

Keeping a line for every field of a dump would cost more than reading it. So a place is remembered as a path,
and one more pass over the text finds the lines of all places that errors name, whatever their number.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from kruntimes_core.lab.offline_plan.sources import Source
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.yaml_files import JsonError, YamlLoader, decode, looks_like_json, read_json

# A key of a mapping, or a position in a list.
Step = str | int


@dataclass(slots=True)
class Wanted:
    """One field on the way to what is searched for; `line` is filled in by the search, from 1."""

    line: int | None = None
    below: dict[str, Wanted] = field(default_factory=dict)

    def trail(self, path: Iterable[Step]) -> list[Wanted]:
        """The fields from this one to the one at `path`, added where they are not yet wanted."""
        trail = [self]
        for step in path:
            trail.append(trail[-1].below.setdefault(str(step), Wanted()))
        return trail


_SPACE = re.compile(r"[ \t\r\n]*")


def find_in_json(text: str, offset: int, wanted: Wanted) -> None:
    """Fill in the lines of what is wanted in the value that starts at `offset` of a valid text."""
    if wanted.line is None:
        wanted.line = text.count("\n", 0, offset) + 1
    if not wanted.below:
        return
    for step, start, value in _members(text, offset):
        field = wanted.below.get(step)
        if field:
            field.line = text.count("\n", 0, start) + 1
            find_in_json(text, value, field)


def _members(text: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """Each member of an object or array: its key or position, where it starts, where its value does."""
    opening = text[offset]
    if opening not in "{[":
        return
    decoder, count = json.JSONDecoder(), 0
    position = _next(text, offset + 1)
    while text[position] not in "}]":
        start, step = position, str(count)
        if opening == "{":
            step, position = decoder.raw_decode(text, position)
            position = _next(text, _next(text, position) + 1)
        yield step, start, position
        _, position = decoder.raw_decode(text, position)
        position = _next(text, position)
        if text[position] == ",":
            position = _next(text, position + 1)
        count += 1


def _next(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def find_in_yaml(text: str, documents: Mapping[int, Wanted]) -> None:
    """Fill in the lines of what is wanted, by the number of its document.

    A text that turns out to be broken ends the search: what was found before stays.
    """
    number, events = -1, yaml.parse(text, YamlLoader)
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                number += 1
                _find_in_node(next(events), events, documents.get(number))
            elif isinstance(event, yaml.DocumentEndEvent) and number >= max(documents):
                return
    except (yaml.YAMLError, RecursionError):
        return


def _find_in_node(event: yaml.Event, events: Iterator[yaml.Event], wanted: Wanted | None) -> None:
    """Read the node that begins with `event` to its end. wanted: None where nothing is searched for."""
    if wanted and wanted.line is None and event.start_mark:
        wanted.line = event.start_mark.line + 1
    if not isinstance(event, yaml.CollectionStartEvent):
        return
    for number, member in enumerate(iter(events.__next__, None)):
        if isinstance(member, yaml.CollectionEndEvent):
            return
        step = str(number)
        if isinstance(event, yaml.MappingStartEvent):
            step = member.value if isinstance(member, yaml.ScalarEvent) else ""
        below = wanted.below.get(step) if wanted else None
        _find_in_node(member, events, below)
        if isinstance(event, yaml.MappingStartEvent):
            # Its line is that of the key, which was found before.
            _find_in_node(next(events), events, below)


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


def steps(content: object, path: str) -> Iterator[Step]:
    """The steps along `path`, as far as `content` has them. In: `spec.terms[0].labelSelector`."""
    rest = path
    while rest:
        found = max(_written(content, rest), key=lambda way: len(way[0]), default=None)
        if found is None:
            return
        text, step, content = found
        yield step
        rest = rest[len(text) :].removeprefix(".")


def _written(content: object, rest: str) -> Iterator[tuple[str, Step, object]]:
    """Each way in which `rest` may begin with a step into `content`: the text, the step, what is there."""
    if isinstance(content, dict):
        for key, value in content.items():
            for text in (str(key), f"[{quoted(key)}]"):
                if _begins(rest, text):
                    yield text, str(key), value
    elif isinstance(content, list):
        for position, value in enumerate(content):
            if _begins(rest, f"[{position}]"):
                yield f"[{position}]", position, value


def _begins(rest: str, text: str) -> bool:
    return bool(text) and rest.startswith(text) and rest[len(text) : len(text) + 1] in ("", ".", "[")
