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
    own = 1
    todo: list[object] = [document]
    while todo:
        value = todo.pop()
        if id(value) in sizes:
            continue
        parts = _containers(value)
        unknown = [part for part in parts if id(part) not in sizes]
        if unknown:  # no deeper than the stack of Python: what is inside comes first
            todo.append(value)
            todo.extend({id(part): part for part in unknown}.values())
            continue
        scalars = _length(value) - len(parts)
        own += 1 + scalars
        sizes[id(value)] = 1 + scalars + sum([sizes[id(part)] for part in parts])
    return sizes[id(document)] > max(_LARGEST, _LARGEST_GROWTH * own)


def _containers(value: object) -> list[object]:
    """The parts of a value that have parts of their own."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for part in parts if isinstance(part, dict | list)]


def _length(value: object) -> int:
    return len(value) if isinstance(value, dict | list) else 0
