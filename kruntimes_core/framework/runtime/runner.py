"""One profile's plan for one Run: prefilter, filter, score, normalize, choose.

A `Runner` belongs to one worker thread, because no lock guards the answers that it keeps. When a call is
abandoned, its `Runner` is discarded with the worker.
"""

from __future__ import annotations

from collections.abc import Set

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime.filter import FilterAnswers, FilterResult, Filters
from kruntimes_core.framework.runtime.plan_results import ScheduleResult, Unschedulable, Verdict
from kruntimes_core.framework.runtime.pod_set import PodSet
from kruntimes_core.framework.runtime.prefilter import InvalidRunResult, PreFilters, PreFilterState
from kruntimes_core.framework.runtime.result_cache import CachedResults, PlanInputs, ResultCache
from kruntimes_core.framework.runtime.score import PodScores, ScoreAnswers, Scorers
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

Results = CachedResults[FilterAnswers, ScoreAnswers]

# The number of Runtimes for which one runner keeps answers.
KEPT_POD_SETS = 4_096


class Runner:
    """Runs the plugins of one profile, and calls them only if an argument changed since the last call.

    With `reuse=False` every plugin is called each time. The decisions must be the same; a test checks that.
    """

    def __init__(self, profile: Profile, reuse: bool = True, records: bool = False) -> None:
        """records: keep each rejection, for `explain`. Always so with a stateful plugin, which may answer
        differently when it is called again.
        """
        self.profile = profile
        self._reuse = reuse
        self._records = records or any(plugin.stateful for plugin in profile.plugins)
        self._recorder: Runner | None = None
        self._prefilters = PreFilters(profile, reuse)
        self._filters = Filters(profile, reuse, self._records)
        self._scorers = Scorers(profile, reuse)
        self._cache = ResultCache(self._filters.caches, self._scorers.caches)
        self._pod_sets: dict[tuple[str, str], PodSet] = {}
        self.calls = 0
        """How often plans called filters; each call is for one Pod."""

    def plan(
        self,
        run: Run,
        snapshot: Snapshot,
        excluded: Set[str] = frozenset(),
        before: PreFilterState | None = None,
    ) -> ScheduleResult | Unschedulable | InvalidRunResult:
        """Find the best Pod for `run`, without the Pods named in `excluded`, which were rejected before.

        before: the state that the prefilters returned for this Run last time, to be reused if it still holds.
        Raises `PluginError` if a plugin raised, or if its answer breaks the contract.
        """
        inputs = self._prefilter(run, snapshot, before)
        if isinstance(inputs, InvalidRunResult):
            return inputs
        pods, results = inputs.pods, self._cache.of(inputs)
        filtered = self._filters.run(inputs, results.filters, pods.present)
        self.calls += inputs.calls
        feasible = filtered.feasible & ~pods.named(excluded) if excluded else filtered.feasible
        if not feasible:
            return self._unschedulable(inputs, results, filtered)
        best = self._scorers.best(inputs, results.scores, feasible)
        return ScheduleResult(
            prefilter_state=inputs.state,
            rejections=self._filters.counted(filtered),
            verdicts=filtered.verdicts(pods) if self._records else None,
            pod=pods.pod(best),
        )

    def check(self, run: Run, snapshot: Snapshot, pod_name: str) -> ScheduleResult | None:
        """Call prefilter and filter again for one Pod, before it is reserved.

        None if the Pod does not exist any more, a filter rejects it now, or a prefilter now calls the Run
        invalid. Raises `PluginError`.
        """
        inputs = self._prefilter(run, snapshot)
        pod = snapshot.pods.get(pod_name)
        if isinstance(inputs, InvalidRunResult) or pod is None:
            return None
        results = self._cache.of(inputs)
        filtered = self._filters.run(inputs, results.filters, inputs.pods.named({pod_name}))
        if not filtered.feasible:
            return None
        return ScheduleResult(prefilter_state=inputs.state, pod=pod)

    def explain(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> tuple[dict[str, Verdict], dict[str, PodScores]]:
        """For a record: the first rejection of each Pod, and the scores of the feasible Pods.

        The place in a verdict counts the filters of the profile. Raises `PluginError`.
        """
        if not self._records:
            # Another runner, because the record may be of an older snapshot, and this cache is for the
            # latest.
            self._recorder = self._recorder or Runner(self.profile, self._reuse, records=True)
            return self._recorder.explain(run, snapshot, excluded)
        inputs = self._prefilter(run, snapshot)
        if isinstance(inputs, InvalidRunResult):
            return {}, {}
        pods, results = inputs.pods, self._cache.of(inputs)
        filtered = self._filters.run(inputs, results.filters, pods.present)
        left = filtered.feasible & ~pods.named(excluded)
        scored = self._scorers.explain(inputs, results.scores, left)
        return filtered.verdicts(pods), scored

    def _prefilter(
        self, run: Run, snapshot: Snapshot, before: PreFilterState | None = None
    ) -> PlanInputs | InvalidRunResult:
        state = self._prefilters.run(run, snapshot, before)
        if isinstance(state, InvalidRunResult):
            return state
        return PlanInputs(run, snapshot, state, self._pod_set(snapshot))

    def _unschedulable(self, inputs: PlanInputs, results: Results, filtered: FilterResult) -> Unschedulable:
        """The outcome of a plan that found no Pod: that of the last plan, if all answers are the same."""
        made_from = (id(inputs.state), inputs.pods.present, *filtered.made_from())
        if results.unschedulable is not None and results.unschedulable[0] == made_from:
            return results.unschedulable[1]
        times = self._filters.retry_times(filtered)
        retry_at, retry_by = min([one for one in times if one[0] > inputs.snapshot.now], default=(None, None))
        outcome = Unschedulable(
            prefilter_state=inputs.state,
            rejections=self._filters.counted(filtered),
            verdicts=filtered.verdicts(inputs.pods) if self._records else None,
            waiting_message=self._filters.waiting_message(filtered, inputs.run.runtime),
            retry_at=retry_at,
            retry_by=retry_by,
        )
        if outcome.verdicts is None and not times:
            results.unschedulable = (made_from, outcome)
        return outcome

    def _pod_set(self, snapshot: Snapshot) -> PodSet:
        """The Pods of the snapshot, by position."""
        key = (snapshot.namespace, snapshot.runtime)
        pods = self._pod_sets.get(key) if self._reuse else None
        if pods is None:
            pods = PodSet()
            if self._reuse:
                if len(self._pod_sets) >= KEPT_POD_SETS:
                    del self._pod_sets[next(iter(self._pod_sets))]
                self._pod_sets[key] = pods
        pods.follow(snapshot.pods)
        return pods
