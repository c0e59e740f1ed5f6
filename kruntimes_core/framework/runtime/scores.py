"""The column of a scorer: raw scores, and the sets of Pods whose raw scores are equal.

Where one scorer alone tells the feasible Pods apart, and the best raw score stays the best, the
answer is the best set that has a feasible Pod: found without a look at the others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from kruntimes_core.framework.runtime.bits import mask_of, members
from kruntimes_core.framework.runtime.columns import Column

# So many levels without Pods may stay, besides as many as have some: a load that left comes back.
_VOID_LEVELS = 16

_UNASKED: Any = object()
_by_raw = attrgetter("raw")


class _Level:
    """The Pods with one raw score; none any more, if its `mask` is 0."""

    __slots__ = ("mask", "raw")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.mask = 0


class RawScores(Column):
    """One scorer's answers for one state."""

    __slots__ = ("_at", "_levels", "_live", "_ordered", "answers")

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Any] = []
        """By position; stale where the Pod is due."""
        self._levels: dict[Any, _Level] | None = {}
        """By raw score; None once one could not be hashed."""
        self._at: list[_Level | None] = []
        """By position."""
        self._live = 0
        """How many levels have Pods."""
        self._ordered: list[_Level] | None = None
        """The levels from the worst to the best; made when it is needed."""

    @property
    def comparable(self) -> bool:
        """Whether equal raw scores are known as such: all of them could be hashed."""
        return self._levels is not None

    def knows(self, position: int, answer: Any) -> bool:
        """See `Column`."""
        return position < self.size and self.answers[position] is answer

    def grow(self, size: int) -> None:
        """See `Column`."""
        self.answers.extend([_UNASKED] * (size - self.size))
        self._at.extend([None] * (size - self.size))
        self.size = size

    def learn(self, positions: Sequence[int], asked: int, answers: list[Any]) -> None:
        """See `Column`. Raises what hashing or comparing the raw scores raises, but `TypeError`."""
        known = self.answers
        changed = []
        for position, answer in zip(positions, answers, strict=True):
            if answer is not known[position]:
                known[position] = answer
                changed.append(position)
        if changed and self._levels is not None:
            try:
                self._regroup(self._levels, changed)
            except TypeError:
                self._levels = self._ordered = None
            except BaseException:
                self.__init__()  # type: ignore[misc]
                raise

    def tells_apart(self, among: int) -> bool:
        """Whether the Pods in the set `among`, which is not empty, differ in their raw scores."""
        if self._live == 1:
            return False
        level = self._at[among.bit_length() - 1]
        return level is None or level.mask & among != among

    def best(self, among: int) -> int:
        """The set of the best in `among`, which is not empty. Raises what comparing them raises."""
        ordered = self._in_order()
        # From the best down, unless there are far more levels than Pods to look at.
        if ordered is not None and len(ordered) <= 4 * among.bit_count():
            for level in reversed(ordered):
                if common := level.mask & among:
                    return common
        return self._best_by_one(among)

    def _best_by_one(self, among: int) -> int:
        answers = self.answers
        positions = members(among)
        best, found = answers[positions[0]], [positions[0]]
        for position in positions[1:]:
            raw = answers[position]
            if raw == best:
                found.append(position)
            elif best < raw:
                best, found = raw, [position]
        return mask_of(found)

    # The levels

    def _regroup(self, levels: dict[Any, _Level], changed: list[int]) -> None:
        for position in changed:
            raw = self.answers[position]
            level = levels.get(raw)
            if level is None:
                level = self._new_level(levels, raw)
            before = self._at[position]
            if level is before:
                continue
            bit = 1 << position
            if before is not None:
                before.mask ^= bit
                self._live -= not before.mask
            self._live += not level.mask
            level.mask |= bit
            self._at[position] = level
        if len(levels) > 2 * self._live + _VOID_LEVELS:
            self._levels = {raw: level for raw, level in levels.items() if level.mask}
            self._ordered = None

    def _new_level(self, levels: dict[Any, _Level], raw: Any) -> _Level:
        level = levels[raw] = _Level(raw)
        if self._ordered is not None:
            try:
                insort(self._ordered, level, key=_by_raw)
            except Exception:  # noqa: BLE001 - a stranger's comparison: see `_in_order`
                self._ordered = None
        return level

    def _in_order(self) -> list[_Level] | None:
        """The levels in order, or None if they have none.

        Pods of which the Run has no choice may have scores of another kind: that is nobody's error.
        """
        if self._ordered is None and self._levels is not None:
            try:
                self._ordered = sorted(self._levels.values(), key=_by_raw)
            except Exception:  # noqa: BLE001 - what the Run does choose among is compared by itself then
                return None
        return self._ordered
