"""Choosing among feasible Pods: raw scores, normalization, weights, ties by Pod name.

Total = sum of normalized * weight; the highest total wins, equal totals go to the smallest name.
Where only one scorer tells the Pods apart and promises that the best raw value stays the best, its
best raw value is the answer, found in a heap without normalizing anything.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.profile import ActivePlugin

Row = tuple[Any, ...]
Normalize = Callable[[Sequence[Any]], list[int]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """One scorer of a profile, bound to the Run and snapshot of a cycle."""

    plugin: ActivePlugin
    normalize: Normalize | None
    """None: the raw scores are final."""

    @property
    def monotone(self) -> bool:
        """Whether equal raw scores stay equal, and only the best one becomes the best."""
        return self.normalize is None or self.plugin.best_stays_best


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one Pod, one of each scorer in order."""

    raw: Row
    normalized: tuple[int, ...]
    total: int


class UncomparableError(Exception):
    """Raw scores of the scorer at `place` cannot be compared or counted; `__cause__` says why."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class _Best:
    """Heap order: the greatest raw value first, then the smallest name."""

    __slots__ = ("name", "raw", "row")

    def __init__(self, raw: Any, name: str, row: Row) -> None:
        self.raw, self.name, self.row = raw, name, row

    def __lt__(self, other: _Best) -> bool:
        if self.raw == other.raw:
            return self.name < other.name
        return bool(other.raw < self.raw)


class Ranking:
    """The raw scores of the feasible Pods, kept in step with the changes of a table."""

    def __init__(self, scorers: int, incremental: bool = True) -> None:
        self._rows: dict[str, Row] = {}
        self._distinct: list[Counter[Any]] = [Counter() for _ in range(scorers)]
        self._incremental = incremental
        self._heaps: dict[int | None, list[_Best]] = {}
        self._names: list[str] | None = None
        """The names in order, kept once a choice has had to look at every Pod."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, name: str, row: Row) -> None:
        """Add a feasible Pod's raw scores."""
        self._rows[name] = row
        if self._names is not None:
            insort(self._names, name)
        if self._incremental:
            self._count(row, 1)
        for scorer, heap in self._heaps.items():
            with _blaming(scorer):
                heapq.heappush(heap, _Best(_raw(row, scorer), name, row))

    def drop(self, name: str) -> None:
        """Forget a Pod."""
        row = self._rows.pop(name)
        if self._names is not None:
            del self._names[bisect_left(self._names, name)]
        if self._incremental:
            self._count(row, -1)

    def clear(self) -> None:
        """Forget all Pods."""
        for name in list(self._rows):
            self.drop(name)
        self._heaps.clear()

    def best(self, scorers: Sequence[Scorer], excluded: Set[str]) -> str | None:
        """The name of the best Pod outside `excluded`; None when there is none."""
        if self._incremental and all(scorer.monotone for scorer in scorers):
            telling = [place for place, values in enumerate(self._distinct) if len(values) > 1]
            if len(telling) <= 1:
                return self._top(telling[0] if telling else None, excluded)
        names = self._without(excluded)
        if not names:
            return None
        totals = self._totals(scorers, self._columns(scorers, names), len(names))
        return names[totals.index(max(totals))]

    def scored(self, scorers: Sequence[Scorer], excluded: Set[str]) -> dict[str, Scored]:
        """Every Pod outside `excluded` with its raw and normalized scores and its total, by name."""
        names = self._without(excluded)
        if not names:
            return {}
        columns = self._columns(scorers, names)
        totals = self._totals(scorers, columns, len(names))
        normalized = zip(*columns, strict=True) if columns else [()] * len(names)
        return {
            name: Scored(self._rows[name], values, total)
            for name, values, total in zip(names, normalized, totals, strict=True)
        }

    def _columns(self, scorers: Sequence[Scorer], names: Sequence[str]) -> list[Sequence[int]]:
        """The final scores of each scorer for the Pods in `names`."""
        rows = [self._rows[name] for name in names]
        columns: list[Sequence[int]] = []
        for place, scorer in enumerate(scorers):
            raw = [row[place] for row in rows]
            columns.append(scorer.normalize(raw) if scorer.normalize is not None else raw)
        return columns

    def _without(self, excluded: Set[str]) -> list[str]:
        """The names of the Pods outside `excluded`, in order."""
        if self._names is None:
            self._names = sorted(self._rows)
        return [name for name in self._names if name not in excluded] if excluded else self._names

    def _totals(self, scorers: Sequence[Scorer], columns: Sequence[Sequence[int]], number: int) -> list[int]:
        """The sums of the final scores, each times its weight, for `number` Pods."""
        totals = [0] * number
        for scorer, column in zip(scorers, columns, strict=True):
            weight = scorer.plugin.weight
            totals = [total + value * weight for total, value in zip(totals, column, strict=True)]
        return totals

    def _count(self, row: Row, difference: int) -> None:
        for place, (values, raw) in enumerate(zip(self._distinct, row, strict=True)):
            try:
                values[raw] += difference
                if not values[raw]:
                    del values[raw]
            except TypeError:
                # A raw score that cannot be hashed: from now on every choice looks at every Pod.
                self._incremental = False
                self._heaps.clear()
                return
            except BaseException as error:
                raise UncomparableError(place) from error

    def _top(self, scorer: int | None, excluded: Set[str]) -> str | None:
        heap = self._heaps.get(scorer)
        if heap is None or len(heap) > 2 * len(self._rows) + 64:
            heap = [_Best(_raw(row, scorer), name, row) for name, row in self._rows.items()]
            with _blaming(scorer):
                heapq.heapify(heap)
            self._heaps[scorer] = heap
        set_aside = []
        found = None
        while heap:
            entry = heap[0]
            if self._rows.get(entry.name) is not entry.row:
                self._pop(heap, scorer)
            elif entry.name in excluded:
                set_aside.append(self._pop(heap, scorer))
            else:
                found = entry.name
                break
        with _blaming(scorer):
            for entry in set_aside:
                heapq.heappush(heap, entry)
        return found

    def _pop(self, heap: list[_Best], scorer: int | None) -> _Best:
        with _blaming(scorer):
            return heapq.heappop(heap)


@contextmanager
def _blaming(scorer: int | None) -> Iterator[None]:
    """What comparing raw scores raises is the fault of the scorer that gave them."""
    try:
        yield
    except BaseException as error:
        if scorer is None:  # nothing of a plugin's was compared
            raise
        raise UncomparableError(scorer) from error


def _raw(row: Row, scorer: int | None) -> Any:
    return None if scorer is None else row[scorer]
