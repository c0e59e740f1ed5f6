"""Immutable mappings, from which the values of this room are built, and interning, which shares equal ones.

A hundred thousand Runs carry a few hundred label sets, requests and affinities. One object for each
keeps memory small, comparing cheap (`is` comes first) and remembered matches shared. What is shared must
not change, and needs equality and hashing by value, which `types.MappingProxyType` lacks.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping
from typing import Generic, Self, TypeVar, overload
from weakref import WeakValueDictionary

from kruntimes_core.model.bounded import KIB, MIB, BoundedCache
from kruntimes_core.model.validation import mapping

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)
T = TypeVar("T")
A = TypeVar("A")
V = TypeVar("V")
M = TypeVar("M")

REMEMBERED_TEXTS_BYTES = 8 * MIB
"""Of the JSON texts of one kind whose compiled values are kept, with these."""
LONGEST_TEXT = 4 * KIB
"""Bytes. What is longer is compiled each time."""
# What a text and its compiled value take: at least, and for each byte of the text.
_ENTRY_BYTES = 512
_COMPILED_FACTOR = 4


class FrozenMap(Mapping[K, V_co], Generic[K, V_co]):
    """An immutable, hashable mapping, equal to any other `FrozenMap` of the same class and items.

    items: any mapping, or None for an empty map; they are copied once. The hash is computed at the
    first use and kept, so that a map may be a part of many cache keys.
    """

    __slots__ = ("__weakref__", "_hash", "_items")

    def __init__(self, items: Mapping[K, V_co] | None = None) -> None:
        self._items: dict[K, V_co] = dict(mapping(type(self).__name__, items).items())
        self._hash: int | None = None

    def __getitem__(self, key: K) -> V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    # The next two take three times as long in `Mapping`; filters and scorers call them for each Pod.

    @overload
    def get(self, key: K, /) -> V_co | None: ...
    @overload
    def get(self, key: K, default: V_co | T, /) -> V_co | T: ...
    def get(self, key: K, default: object = None, /) -> object:
        """The value of `key`, or `default`."""
        return self._items.get(key, default)

    def items(self) -> ItemsView[K, V_co]:
        """A view of the items; like the map, it cannot be changed."""
        return self._items.items()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self._items == other._items

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __reduce__(self) -> tuple[type[Self], tuple[dict[K, V_co]]]:
        """Pickle the items alone: a kept hash means nothing in another process."""
        return type(self), (self._items,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"


def interned(text: str) -> str:
    """The one object for a text that many objects repeat: a namespace, a Runtime, a Pod's name."""
    return sys.intern(text) if type(text) is str else text


class InternedMaps(Generic[V, M]):
    """Immutable maps, one object for equal contents, held only while a Run or Pod holds it.

    Items stand in the order of their keys, so that iteration does not depend on which of several
    equal maps was decoded first. The empty map is held for good.
    """

    def __init__(self, build: Callable[[Mapping[str, V]], M]) -> None:
        self._build = build
        # A key says all that the map says, and does not refer to the map, which would keep it alive.
        self._maps: WeakValueDictionary[Hashable, M] = WeakValueDictionary()
        self._empty = build({})

    def of(self, items: Mapping[str, V]) -> M:
        """The map with these items, whose types are known to be right."""
        if not items:
            return self._empty
        key = frozenset(items.items())
        known = self._maps.get(key)
        if known is None:
            known = self._maps[key] = self._build(dict(sorted(items.items())))
        return known

    def find(self, items: Mapping[str, object]) -> M | None:
        """The map with these items if there is one, for items of unchecked types.

        Only fit for maps of strings, which are equal to nothing else.
        """
        try:
            return self._maps.get(frozenset(items.items())) if items else self._empty
        except TypeError:  # a value that is not a string, and cannot be hashed
            return None


class CompileCache(Generic[A, V]):
    """What was compiled from a JSON value, remembered by the text of that value.

    The text is marshal's, version 2: the same for the same value, `1`, `1.0` and `true` apart, and
    five times faster than JSON's. Values of very long texts are compiled each time.
    """

    def __init__(self, compile_value: Callable[[A], V]) -> None:
        self._compile = compile_value
        self._known: BoundedCache[bytes, V] = BoundedCache(REMEMBERED_TEXTS_BYTES, _entry_size(LONGEST_TEXT))

    def of(self, value: A) -> V:
        """What `value` compiles to."""
        try:
            text = marshal.dumps(value, 2)  # type: ignore[arg-type]
        except ValueError:  # nested too deeply, or not out of plain JSON types
            return self._compile(value)
        known = self._known.get(text)
        if known is None:
            known = self._compile(value)
            self._known.keep(text, known, _entry_size(len(text)))
        return known


def _entry_size(length: int) -> int:
    return _ENTRY_BYTES + _COMPILED_FACTOR * length
