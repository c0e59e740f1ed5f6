"""Score and normalize: the scorers of a profile, asked about the Pods that passed every filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import calls, checks
from kruntimes_core.framework.runtime.columns import Check, Columns, Effort
from kruntimes_core.framework.runtime.outcomes import Prepared
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.framework.runtime.ranking import Normalize, Ranking, Scored, Scorer
from kruntimes_core.framework.runtime.scores import RawScores
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Raw scores of one scorer that are kept, over all states and Pods: some 120 MB, if all of them differ.
_KEPT_ANSWERS = 250_000


class Scoring:
    """The scorers of one profile, with the raw scores that still hold."""

    def __init__(self, profile: Profile, effort: Effort, reuse: bool = True) -> None:
        self._places = {plugin.name: place for place, plugin in enumerate(profile.plugins)}
        self.columns = tuple(
            Columns(plugin, "score", place, RawScores, _check(plugin), effort, _KEPT_ANSWERS, reuse)
            for place, plugin in enumerate(profile.plugins)
            if "score" in plugin.hooks
        )
        # Whether equal raw scores stay equal, and only the best one becomes the best, for every scorer.
        self._by_raw = reuse and all(
            columns.plugin.normalize_keeps_best or "normalize" not in columns.plugin.hooks
            for columns in self.columns
        )

    def best(
        self,
        pool: Pool,
        scores: Sequence[RawScores],
        feasible: int,
        excluded: int,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
    ) -> int | None:
        """The position of the best feasible Pod outside `excluded`, or None. Raises `PluginError`.

        scores: the columns of this Run's states.
        """
        if not feasible:
            return None
        for columns, raws in zip(self.columns, scores, strict=True):
            columns.bring_up(raws, pool, feasible, prepared, run, snapshot)
        left = feasible & ~excluded if excluded else feasible
        if not left:
            return None
        if self._by_raw and all(raws.comparable for raws in scores):
            telling = [place for place, raws in enumerate(scores) if raws.tells_apart(left)]
            if len(telling) <= 1:
                return pool.smallest(self._best(telling[0], scores, left) if telling else left)
        order = pool.ordered(left)
        return order[self._ranking(scores, order, prepared, run, snapshot).best]

    def scored(
        self,
        pool: Pool,
        scores: Sequence[RawScores],
        feasible: int,
        excluded: int,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
    ) -> dict[str, Scored]:
        """All scores of the feasible Pods outside `excluded`, for a record. Raises `PluginError`."""
        if not feasible:
            return {}
        for columns, raws in zip(self.columns, scores, strict=True):
            columns.bring_up(raws, pool, feasible, prepared, run, snapshot)
        order = pool.ordered(feasible & ~excluded)
        if not order:
            return {}
        rows = self._ranking(scores, order, prepared, run, snapshot).rows()
        return {pool.pod(position).name: row for position, row in zip(order, rows, strict=True)}

    def _best(self, place: int, scores: Sequence[RawScores], left: int) -> int:
        """What comparing raw scores raises is the fault of the scorer that gave them."""
        try:
            return scores[place].best(left)
        except BaseException as error:  # noqa: BLE001 - as above
            raise calls.broken(self.columns[place].plugin, "score", error) from None

    def _ranking(
        self,
        scores: Sequence[RawScores],
        order: Sequence[int],
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
    ) -> Ranking:
        scorers = [
            Scorer(columns.plugin.weight, self._normalize(columns.plugin, prepared, run, snapshot))
            for columns in self.columns
        ]
        raws = [[raws.answers[position] for position in order] for raws in scores]
        return Ranking(scorers, raws, len(order))

    def _normalize(
        self, plugin: ActivePlugin, prepared: Prepared, run: Run, snapshot: Snapshot
    ) -> Normalize | None:
        hook = plugin.hooks.get("normalize")
        if hook is None:
            return None
        ask = calls.positional(hook, calls.NORMALIZE)
        state = prepared.states[self._places[plugin.name]]

        def normalize(scores: Sequence[Any]) -> list[int]:
            try:
                answer = ask(tuple(scores), state, run, snapshot)
                return checks.normalized_scores(plugin, answer, len(scores))
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                raise calls.broken(plugin, "normalize", error) from None

        return normalize


def _check(plugin: ActivePlugin) -> Check:
    return checks.raw_scores if "normalize" in plugin.hooks else checks.plain_scores
