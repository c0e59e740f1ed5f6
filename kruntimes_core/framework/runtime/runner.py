"""One profile's plan for one Run: prefilter, filter, score, normalize, choose.

A `Runner` belongs to the worker that plans, and to nobody else: the answers that it keeps are not
guarded by a lock. When a call is abandoned, its `Runner` is thrown away with the worker.
"""

from __future__ import annotations

from collections.abc import Set

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime.columns import Effort
from kruntimes_core.framework.runtime.combinations import Combination, Combinations, Refusal
from kruntimes_core.framework.runtime.filtering import Filtering, Sifted
from kruntimes_core.framework.runtime.outcomes import (
    Chosen,
    Invalid,
    Prepared,
    Unschedulable,
    Verdict,
)
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.framework.runtime.preparing import PreFilters
from kruntimes_core.framework.runtime.ranking import Scored
from kruntimes_core.framework.runtime.scoring import Scoring
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Runtimes whose Pods are kept by one runner.
_KEPT_POOLS = 4_096


class Runner:
    """Runs the plugins of one profile, asking them only what changed since they were asked last.

    With `reuse=False` every plugin is asked for everything each time; the answers must be the
    same, and a test holds that they are.
    """

    def __init__(self, profile: Profile, reuse: bool = True, records: bool = False) -> None:
        """records: keep each answer of a filter, for `explain`; a stateful plugin's cannot be had again."""
        self.profile = profile
        self._reuse = reuse
        self._records = records or any(plugin.stateful for plugin in profile.plugins)
        self._recorder: Runner | None = None
        self._prefilters = PreFilters(profile, reuse)
        self.effort = Effort()
        self._filtering = Filtering(profile, self.effort, reuse, self._records)
        self._scoring = Scoring(profile, self.effort, reuse)
        self._combinations = Combinations(self._filtering.columns, self._scoring.columns)
        self._pools: dict[tuple[str, str], Pool] = {}

    def plan(
        self,
        run: Run,
        snapshot: Snapshot,
        excluded: Set[str] = frozenset(),
        before: Prepared | None = None,
    ) -> Chosen | Unschedulable | Invalid:
        """Find the best Pod for `run`, without the Pods named in `excluded` (turned down before).

        before: what the prefilters made of this very Run, to be looked at first. Raises `PluginError` for a
        plugin that raised or answered out of contract.
        """
        prepared = self._prefilters.prepare(run, snapshot, before)
        if isinstance(prepared, Invalid):
            return prepared
        pool = self._pool(snapshot)
        columns = self._combinations.of(pool, prepared, run)
        sifted = self._filtering.sift(pool, columns.filters, pool.present, prepared, run, snapshot)
        left_out = pool.mask(excluded) if excluded else 0
        best = self._scoring.best(pool, columns.scores, sifted.feasible, left_out, prepared, run, snapshot)
        prepared.gather()
        if best is None:
            return self._refused(columns, pool, sifted, prepared, run, snapshot)
        return Chosen(
            prepared=prepared,
            rejections=self._filtering.counted(sifted),
            verdicts=sifted.verdicts(pool) if self._records else None,
            pod=pool.pod(best),
        )

    def check(self, run: Run, snapshot: Snapshot, name: str) -> Chosen | None:
        """Ask prefilter and filter again for one Pod, before it is reserved.

        None when the Pod is gone, a filter rejects it now, or the Run is invalid by now.
        Raises `PluginError`.
        """
        prepared = self._prefilters.prepare(run, snapshot)
        pod = snapshot.pods.get(name)
        if isinstance(prepared, Invalid) or pod is None:
            return None
        pool = self._pool(snapshot)
        columns = self._combinations.of(pool, prepared, run)
        sifted = self._filtering.sift(pool, columns.filters, pool.mask({name}), prepared, run, snapshot)
        if not sifted.feasible:
            return None
        prepared.gather()
        return Chosen(prepared=prepared, pod=pod)

    def explain(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> tuple[dict[str, Verdict], dict[str, Scored]]:
        """Each Pod's first rejection, and the scores of the feasible ones, for a record.

        The place in a verdict counts the filters of the profile. Raises `PluginError`.
        """
        if not self._records:
            # Apart from what plans go on from, which is not led back to an older picture by it.
            self._recorder = self._recorder or Runner(self.profile, self._reuse, records=True)
            return self._recorder.explain(run, snapshot, excluded)
        prepared = self._prefilters.prepare(run, snapshot)
        if isinstance(prepared, Invalid):
            return {}, {}
        pool = self._pool(snapshot)
        columns = self._combinations.of(pool, prepared, run)
        sifted = self._filtering.sift(pool, columns.filters, pool.present, prepared, run, snapshot)
        scored = self._scoring.scored(
            pool, columns.scores, sifted.feasible, pool.mask(excluded), prepared, run, snapshot
        )
        return sifted.verdicts(pool), scored

    def _refused(
        self,
        columns: Combination,
        pool: Pool,
        sifted: Sifted,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
    ) -> Unschedulable:
        """That there is no Pod for the Run: as last time, if no set of Pods changed."""
        known = columns.refusal
        if known is not None and known.holds(pool, sifted, prepared):
            return known.outcome
        outcome = Unschedulable(
            prepared=prepared,
            rejections=self._filtering.counted(sifted),
            verdicts=sifted.verdicts(pool) if self._records else None,
            headline=self._filtering.headline(sifted, run),
            retry_at=sifted.retry_at(snapshot.now),
        )
        if outcome.verdicts is None and not any(step.column.timed for step in sifted.rejecting):
            columns.refusal = Refusal(pool, sifted, outcome)
        return outcome

    def _pool(self, snapshot: Snapshot) -> Pool:
        """The Pods of the snapshot, by position."""
        key = (snapshot.namespace, snapshot.runtime)
        pool = self._pools.get(key) if self._reuse else None
        if pool is None:
            pool = Pool()
            if self._reuse:
                if len(self._pools) >= _KEPT_POOLS:
                    del self._pools[next(iter(self._pools))]
                self._pools[key] = pool
        pool.follow(snapshot.pods)
        return pool
