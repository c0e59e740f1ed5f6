"""Equal parts of different objects become one object.

A hundred thousand Runs carry a few hundred label sets, requests and affinities. One object for each
keeps memory small, comparing cheap (`is` comes first) and answers shared. What is unused goes away
by itself; tables of texts that users wrote are bounded.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

A = TypeVar("A")
V = TypeVar("V")
M = TypeVar("M")

_REMEMBERED_TEXTS = 4_096
_LONGEST_TEXT = 4_096


class Interner(Generic[V]):
    """The one object for each value, held only as long as somebody else holds it.

    A key must say all that the value says, and must not refer to the value (it would never go).
    """

    def __init__(self) -> None:
        self._known: WeakValueDictionary[Hashable, V] = WeakValueDictionary()

    def find(self, key: Hashable) -> V | None:
        """The object that is known under `key`."""
        return self._known.get(key)

    def keep(self, key: Hashable, value: V) -> V:
        """The object known under `key`: the one that was there first, or else `value`."""
        return self._known.setdefault(key, value)


class SharedMaps(Generic[V, M]):
    """Immutable maps, one object for equal contents; the empty one is held for good.

    Their items stand in the order of the keys: what a plugin meets first must not depend on who
    wrote an equal map first, and how.
    """

    def __init__(self, build: Callable[[Mapping[str, V]], M]) -> None:
        self._build = build
        self._maps: Interner[M] = Interner()
        self._nothing = build({})

    def of(self, items: Mapping[str, V]) -> M:
        """The map with these items, whose types are known to be right."""
        if not items:
            return self._nothing
        key = frozenset(items.items())
        known = self._maps.find(key)
        return self._maps.keep(key, self._build(dict(sorted(items.items())))) if known is None else known

    def find(self, items: Mapping[str, object]) -> M | None:
        """The map with these items if there is one, for items whose types nobody has checked.

        Only fit for maps of strings, which are equal to nothing else.
        """
        try:
            return self._maps.find(frozenset(items.items())) if items else self._nothing
        except TypeError:  # a value that is no string, and cannot be hashed
            return None


class Compiled(Generic[A, V]):
    """What was compiled from a JSON value, remembered by the text of that value.

    The text is marshal's, version 2: the same for the same value, `1`, `1.0` and `true` apart, and
    five times faster than JSON's. Values of very long texts are compiled each time.
    """

    def __init__(self, compile_value: Callable[[A], V]) -> None:
        self._compile = compile_value
        self._known: dict[bytes, V] = {}

    def of(self, value: A) -> V:
        """What `value` compiles to."""
        try:
            text = self._text(value)
        except ValueError:  # nested too deeply, or not out of plain JSON types
            return self._compile(value)
        known = self._known.get(text)
        return self._remember(text, self._compile(value)) if known is None else known

    @staticmethod
    def _text(value: Any) -> bytes:
        return marshal.dumps(value, 2)

    def _remember(self, text: bytes, compiled: V) -> V:
        if len(text) <= _LONGEST_TEXT:
            if len(self._known) >= _REMEMBERED_TEXTS:
                self._known.clear()
            self._known[text] = compiled
        return compiled


def shared(text: str) -> str:
    """The one object for a text that many objects repeat: a namespace, a Runtime, a Pod's name."""
    return sys.intern(text) if type(text) is str else text
