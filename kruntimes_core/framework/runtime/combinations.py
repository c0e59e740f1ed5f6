"""Which columns a Run's states lead to, found in one look for all Runs with the same states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kruntimes_core.framework.runtime.columns import Column, Columns
from kruntimes_core.framework.runtime.filtering import Sifted
from kruntimes_core.framework.runtime.outcomes import Prepared, Unschedulable
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.framework.runtime.scores import RawScores
from kruntimes_core.framework.runtime.sharing import StateKey
from kruntimes_core.framework.runtime.verdicts import Verdicts
from kruntimes_core.model.run import Run

_KEPT_COMBINATIONS = 65_536
# In so many plans it is looked once whether too much is kept.
_LOOKED_AFTER = 256


class Refusal:
    """That no Pod passed, and from which sets that follows.

    Most changes of Pods leave those that wait with the same refusal, and then there is nothing to count.
    """

    __slots__ = ("_given_from", "outcome")

    def __init__(self, pool: Pool, sifted: Sifted, outcome: Unschedulable) -> None:
        self._given_from = _sets(pool, sifted, outcome.prepared)
        self.outcome = outcome

    def holds(self, pool: Pool, sifted: Sifted, prepared: Prepared) -> bool:
        """Whether the filters would count and say the same."""
        return self._given_from == _sets(pool, sifted, prepared)


def _sets(pool: Pool, sifted: Sifted, prepared: Prepared) -> tuple[object, ...]:
    versions = [(step.place, step.column.version) for step in sifted.rejecting]
    return (id(prepared), pool.present, sifted.feasible, *versions)


class Combination:
    """The columns of one Run's states on one Runtime's Pods."""

    __slots__ = ("filters", "refusal", "scores", "used")

    def __init__(self, filters: Sequence[Verdicts], scores: Sequence[RawScores]) -> None:
        self.filters = filters
        """One for each filter, in order."""
        self.scores = scores
        """One for each scorer, in order."""
        self.used = 0
        """When it was last used, in plans of its runner."""
        self.refusal: Refusal | None = None

    def stamp(self) -> None:
        """Let each column know when it was last used."""
        columns: tuple[Column, ...] = (*self.filters, *self.scores)
        for column in columns:
            column.used = max(column.used, self.used)


class Combinations:
    """The combinations of one runner. They hold no answers: columns do, shared by many of them."""

    def __init__(self, filters: Sequence[Columns[Verdicts]], scores: Sequence[Columns[RawScores]]) -> None:
        self._filters = filters
        self._scores = scores
        self._shared = all([columns.shared for columns in filters] + [columns.shared for columns in scores])
        self._known: dict[tuple[Pool, StateKey], Combination] = {}
        self._plans = 0

    def of(self, pool: Pool, prepared: Prepared, run: Run) -> Combination:
        """The columns for this Run."""
        self._plans += 1
        found = self._known.get((pool, prepared.together))
        if found is None:
            found = self._combine(pool, prepared, run)
            self._thin_out()
        elif self._plans % _LOOKED_AFTER == 0:
            self._thin_out()  # columns grow with their Runtimes
        found.used = self._plans
        return found

    def _combine(self, pool: Pool, prepared: Prepared, run: Run) -> Combination:
        combination = Combination(
            tuple([columns.of(pool, prepared, run) for columns in self._filters]),
            tuple([columns.of(pool, prepared, run) for columns in self._scores]),
        )
        combination.used = self._plans
        combination.stamp()
        if self._shared:
            self._known[pool, prepared.together] = combination
        return combination

    def _thin_out(self) -> None:
        stores: tuple[Columns[Any], ...] = (*self._filters, *self._scores)
        crowded = [columns for columns in stores if columns.crowded]
        if not crowded and len(self._known) <= _KEPT_COMBINATIONS:
            return
        for combination in self._known.values():
            combination.stamp()
        self._known.clear()
        for columns in crowded:
            columns.thin_out()
