"""A search for fields through the events of a YAML parser: no value is built, nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from kruntimes_core.lab.manifests.wanted import Wanted
from kruntimes_core.model.yaml_files import YamlLoader


@dataclass(slots=True)
class _Open:
    """A collection that the walk is inside of; `wanted` is None where nothing is searched for."""

    wanted: Wanted | None
    mapping: bool
    position: int = 0
    value: Wanted | None = None


def find_in_yaml(text: str, documents: Mapping[int, Wanted]) -> None:
    """Fill in the lines of what is wanted, by the number of its document.

    A text that turns out to be broken ends the search: what was found before stays.
    """
    number, walk = -1, _Walk(None)
    try:
        for event in yaml.parse(text, YamlLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                number += 1
                walk = _Walk(documents.get(number))
            elif isinstance(event, yaml.NodeEvent):
                walk.node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                walk.end()
            elif isinstance(event, yaml.DocumentEndEvent) and number >= max(documents):
                return
    except (yaml.YAMLError, RecursionError):
        return


class _Walk:
    """The way through one document."""

    def __init__(self, root: Wanted | None) -> None:
        self._root = root
        self._open: list[_Open] = []

    def node(self, event: yaml.NodeEvent) -> None:
        """A scalar, an alias, or the start of a collection."""
        wanted = self._step(event) if self._open else _found(self._root, event)
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append(_Open(wanted, isinstance(event, yaml.MappingStartEvent)))

    def end(self) -> None:
        """The end of the innermost collection."""
        self._open.pop()

    def _step(self, event: yaml.NodeEvent) -> Wanted | None:
        inside = self._open[-1]
        place, inside.position = inside.position, inside.position + 1
        if not inside.mapping:
            return _found(_below(inside.wanted, str(place)), event)
        if place % 2:
            return inside.value
        key = event.value if isinstance(event, yaml.ScalarEvent) else ""
        inside.value = _found(_below(inside.wanted, key), event)
        return None


def _below(wanted: Wanted | None, step: str) -> Wanted | None:
    return wanted.below.get(step) if wanted else None


def _found(wanted: Wanted | None, event: yaml.NodeEvent) -> Wanted | None:
    if wanted and event.start_mark:
        wanted.line = event.start_mark.line + 1
    return wanted
