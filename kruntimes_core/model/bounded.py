"""A cache with a budget in bytes: users decide how large a Run is, so a number of entries is no bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

KIB = 1_024
MIB = 1_024 * KIB

LARGE = KIB
"""Bytes of the text of a selector. Answers for a larger selector are not kept, but found out each time."""


class BoundedCache(Generic[K, V]):
    """What was made from something that users write; where there is too much, the older half goes.

    More than one thread may use it: what they count wrong ends with the next half that goes.
    """

    def __init__(self, budget: int, largest: int) -> None:
        """budget: bytes of all entries. largest: bytes of one; what is larger is not kept."""
        self.budget = budget
        self.largest = largest
        self.size = 0
        """Bytes that the entries take, as their makers estimate them."""
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """What is kept for a key."""
        found = self._entries.get(key)
        return found[0] if found is not None else None

    def keep(self, key: K, value: V, size: int) -> None:
        """Keep a value that takes `size` bytes, with its key, if one entry may be as large as that."""
        if size > self.largest:
            return
        _, before = self._entries.pop(key, (None, 0))
        self._entries[key] = (value, size)
        self.size += size - before
        while self.size > self.budget:
            for oldest in list(self._entries)[: (len(self._entries) + 1) // 2]:
                self._entries.pop(oldest, None)
            self.size = sum([size for _, size in list(self._entries.values())])
