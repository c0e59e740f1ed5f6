"""Pods in order of their names, so that the smallest name of a set is found without a look at each.

Equal scores go to the smallest name, and often a thousand Pods are equal. The names stand in short
blocks, each with the set of its Pods: a block without a common Pod is passed over in one step.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain

from kruntimes_core.framework.runner.bits import flags_of, lowest

# With blocks of the root of the number of Pods, passing over blocks and looking into one cost alike.
_LONGEST_BLOCK = 64


class _Block:
    """Neighbours in the order of names."""

    __slots__ = ("mask", "names", "positions")

    def __init__(self, names: list[str], positions: list[int]) -> None:
        self.names = names
        self.positions = positions
        self.mask = 0
        for position in positions:
            self.mask |= 1 << position


class NameOrder:
    """The names of a Runtime's Pods in order, with the position of each."""

    __slots__ = ("_all", "_ascending", "_blocks", "_firsts")

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._firsts: list[str] = []
        """The first name of each block."""
        self._all: list[int] | None = None
        self._ascending = True
        """Whether names and positions have one order, as they have until Pods come and go."""

    def add(self, name: str, position: int) -> None:
        """Add a Pod."""
        self._all = None
        if not self._blocks:
            self._blocks.append(_Block([name], [position]))
            self._firsts.append(name)
            self._ascending = True
            return
        last = self._blocks[-1]
        self._ascending = self._ascending and name > last.names[-1] and position > last.positions[-1]
        at = max(bisect_right(self._firsts, name) - 1, 0)
        block = self._blocks[at]
        place = bisect_left(block.names, name)
        block.names.insert(place, name)
        block.positions.insert(place, position)
        block.mask |= 1 << position
        self._firsts[at] = block.names[0]
        if len(block.names) > _LONGEST_BLOCK:
            self._split(at)

    def remove(self, name: str) -> None:
        """Forget a Pod that is known."""
        self._all = None
        at = bisect_right(self._firsts, name) - 1
        block = self._blocks[at]
        place = bisect_left(block.names, name)
        del block.names[place]
        block.mask ^= 1 << block.positions.pop(place)
        if block.names:
            self._firsts[at] = block.names[0]
        else:
            del self._blocks[at], self._firsts[at]

    def first(self, mask: int) -> int:
        """The position of the Pod in `mask`, which is not empty, with the smallest name."""
        if self._ascending:
            return lowest(mask)
        for block in self._blocks:
            common = block.mask & mask
            if common:
                return next(position for position in block.positions if common >> position & 1)
        raise ValueError("none of these Pods is known")

    def ordered(self, mask: int, length: int) -> list[int]:
        """The positions in `mask` in order of names; `length`: how many positions there are."""
        if self._all is None:
            self._all = list(chain.from_iterable(block.positions for block in self._blocks))
        if mask.bit_count() == len(self._all):
            return self._all
        flags = flags_of(mask, length)
        return [position for position in self._all if flags[position]]

    def _split(self, at: int) -> None:
        block = self._blocks[at]
        middle = len(block.names) // 2
        halves = (
            _Block(block.names[:middle], block.positions[:middle]),
            _Block(block.names[middle:], block.positions[middle:]),
        )
        self._blocks[at : at + 1] = halves
        self._firsts[at : at + 1] = [half.names[0] for half in halves]
