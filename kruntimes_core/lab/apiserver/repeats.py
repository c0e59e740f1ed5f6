"""Fields that a body says twice: a JSON text may, an object cannot, and a client is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.validation.paths import child, index

_Repeats = Mapping[int, list[str]]


def repeated_fields(body: bytes) -> tuple[str, ...]:
    """The paths of the fields that a JSON text says again, in order. Raises `ValueError`."""
    found: dict[int, list[str]] = {}

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        obj = dict(pairs)
        if len(obj) != len(pairs):
            names = [name for name, _ in pairs]
            found[id(obj)] = [name for place, name in enumerate(names) if name in names[:place]]
        return obj

    # The root keeps every object alive, so that no id is used twice.
    root = json.loads(body, object_pairs_hook=read)
    return tuple(_paths(root, "", found)) if found else ()


def _paths(value: Any, path: str, found: _Repeats) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (child(path, name) for name in found.get(id(value), ()))
        for name, below in value.items():
            yield from _paths(below, child(path, name), found)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _paths(item, index(path, place), found)
