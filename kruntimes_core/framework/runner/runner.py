"""One profile's plan for one Run: prefilter, filter, score, normalize, choose.

A `Runner` belongs to the worker that plans, and to nobody else: the answers that it keeps are not
guarded by a lock. When a call is abandoned, its `Runner` is thrown away with the worker.
"""

from __future__ import annotations

from collections.abc import Set

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runner.combinations import Combinations
from kruntimes_core.framework.runner.filtering import Filtering
from kruntimes_core.framework.runner.outcomes import Chosen, Invalid, Unschedulable, Verdict
from kruntimes_core.framework.runner.pool import Pool
from kruntimes_core.framework.runner.preparing import PreFilters
from kruntimes_core.framework.runner.ranking import Scored
from kruntimes_core.framework.runner.scoring import Scoring
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Runtimes whose Pods are kept by one runner.
_KEPT_POOLS = 4_096


class Runner:
    """Runs the plugins of one profile, asking them only what changed since they were asked last.

    With `reuse=False` every plugin is asked for everything each time; the answers must be the
    same, and a test holds that they are.
    """

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self.profile = profile
        self._reuse = reuse
        self._prefilters = PreFilters(profile, reuse)
        self._filtering = Filtering(profile, reuse)
        self._scoring = Scoring(profile, reuse)
        self._combinations = Combinations(self._filtering.columns, self._scoring.columns)
        self._keeps_verdicts = any(plugin.stateful for plugin in profile.plugins)
        self._pools: dict[tuple[str, str], Pool] = {}

    def plan(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> Chosen | Unschedulable | Invalid:
        """Find the best Pod for `run`, without the Pods named in `excluded` (turned down before).

        Raises `PluginError` for a plugin that raised or answered out of contract.
        """
        prepared = self._prefilters.prepare(run, snapshot)
        if isinstance(prepared, Invalid):
            return prepared
        pool = self._pool(snapshot)
        columns = self._combinations.of(pool, prepared, run)
        sifted = self._filtering.sift(pool, columns.filters, pool.present, prepared, run, snapshot)
        left_out = pool.mask(excluded) if excluded else 0
        best = self._scoring.best(pool, columns.scores, sifted.feasible, left_out, prepared, run, snapshot)
        prepared.gather()
        rejections = self._filtering.counted(sifted)
        verdicts = sifted.verdicts(pool) if self._keeps_verdicts else None
        mark = snapshot.pods.mark
        if best is not None:
            return Chosen(
                prepared=prepared, mark=mark, rejections=rejections, verdicts=verdicts, pod=pool.pod(best)
            )
        return Unschedulable(
            prepared=prepared,
            mark=mark,
            rejections=rejections,
            verdicts=verdicts,
            headline=self._filtering.headline(sifted, run),
            again_at=sifted.again_at(snapshot.now),
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
        return Chosen(prepared=prepared, mark=snapshot.pods.mark, pod=pod)

    def explain(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> tuple[dict[str, Verdict], dict[str, Scored]]:
        """Each Pod's first rejection, and the scores of the feasible ones, for a record.

        The place in a verdict counts the filters of the profile. Raises `PluginError`.
        """
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
