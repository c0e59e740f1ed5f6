"""Immutable mappings, from which the values of this room are built.

A value that cannot change can be shared: by Runs with equal constraints, by snapshots, by caches of
results. Sharing needs equality and hashing by value, which `types.MappingProxyType` lacks.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from typing import Generic, Self, TypeVar, overload

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)
T = TypeVar("T")


class FrozenMap(Mapping[K, V_co], Generic[K, V_co]):
    """An immutable, hashable mapping, equal to any other `FrozenMap` of the same class and items.

    items: any mapping, or None for an empty map; they are copied once. The hash is computed at the
    first use and kept, so that a map may be a part of many cache keys.
    """

    __slots__ = ("__weakref__", "_hash", "_items")

    def __init__(self, items: Mapping[K, V_co] | None = None) -> None:
        self._items: dict[K, V_co] = dict(items.items()) if items else {}
        self._hash: int | None = None

    def __getitem__(self, key: K) -> V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    # `Mapping` has the next two in Python, at three times the price; filters and scorers call them
    # for each Pod.

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
