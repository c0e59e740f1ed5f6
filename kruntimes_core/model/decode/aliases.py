"""How large a YAML document is with its aliases written out.

The loader builds an anchored value once, however often it is named, so that a few lines of aliases of
aliases cost nothing to read. They cost everything to whoever walks through the value afterwards.
"""

from __future__ import annotations

import re

_LARGEST = 1_000_000  # values; a dump of ten thousand Runs has about as many, and no aliases
_LARGEST_GROWTH = 10
_ALIAS = re.compile(r"(?:^|[\s,\[{:-])\*[^\s,\[\]{}*]", re.MULTILINE)


def has_aliases(text: str) -> bool:
    """Whether a YAML text may name an anchored value: a `*` where one could stand."""
    return _ALIAS.search(text) is not None


def is_bomb(document: object) -> bool:
    """Whether a document has far more values than were written. Takes as long as what was written."""
    sizes: dict[int, int] = {}
    written = _size(document, sizes)
    return written > max(_LARGEST, _LARGEST_GROWTH * len(sizes))


def _size(document: object, sizes: dict[int, int]) -> int:
    """The number of values, `sizes` being those of the containers met so far. No deeper than the stack."""
    todo = [document]
    while todo:
        value = todo[-1]
        if id(value) in sizes:
            todo.pop()
            continue
        parts = _parts(value)
        unknown = {id(part): part for part in parts if _parts(part) and id(part) not in sizes}
        if unknown:
            todo.extend(unknown.values())
        else:
            sizes[id(value)] = 1 + sum(sizes[id(part)] if _parts(part) else 1 for part in parts)
    return sizes[id(document)]


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
