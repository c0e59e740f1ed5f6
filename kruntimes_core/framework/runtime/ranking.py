"""Choosing by totals, where the raw scores alone do not tell: normalize, weigh, add, compare.

Total = sum of normalized * weight; the highest total wins, equal totals go to the smallest name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Normalize = Callable[[Sequence[Any]], list[int]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """One scorer of a profile, bound to the Run and snapshot of a cycle."""

    weight: int
    normalize: Normalize | None
    """None: the raw scores are final."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one Pod, one of each scorer in order."""

    raw: tuple[Any, ...]
    normalized: tuple[int, ...]
    total: int


class Ranking:
    """The scores of the Pods of one choice, in order of names.

    `raws` has the raw scores of each scorer, for each Pod; `number` is how many Pods there are.
    """

    def __init__(self, scorers: Sequence[Scorer], raws: Sequence[Sequence[Any]], number: int) -> None:
        self._number = number
        self._raws = raws
        self._finals: list[Sequence[int]] = [
            scorer.normalize(raw) if scorer.normalize is not None else raw
            for scorer, raw in zip(scorers, raws, strict=True)
        ]
        self.totals = self._add(scorers)

    @property
    def best(self) -> int:
        """Which Pod is the best: of those with the highest total, the one with the smallest name."""
        return self.totals.index(max(self.totals))

    def rows(self) -> list[Scored]:
        """Each Pod's scores."""
        nothing: list[tuple[()]] = [()] * self._number
        raws = zip(*self._raws, strict=True) if self._raws else nothing
        finals = zip(*self._finals, strict=True) if self._finals else nothing
        return [
            Scored(raw, final, total) for raw, final, total in zip(raws, finals, self.totals, strict=True)
        ]

    def _add(self, scorers: Sequence[Scorer]) -> list[int]:
        totals = [0] * self._number
        for scorer, finals in zip(scorers, self._finals, strict=True):
            weight = scorer.weight
            totals = [total + value * weight for total, value in zip(totals, finals, strict=True)]
        return totals
