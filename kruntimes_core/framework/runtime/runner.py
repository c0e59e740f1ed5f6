"""One profile's plan for one Run: prefilter, filter, score, normalize, choose; and what it comes to.

A `Runner` belongs to the worker that plans: the answers that it keeps are not guarded by a lock. When a call
is abandoned, its `Runner` is thrown away with the worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime

from kruntimes_core.framework.profile import PluginError, Profile
from kruntimes_core.framework.runtime.filter import FilterResult, Filters, Verdict
from kruntimes_core.framework.runtime.pod_set import PodSet
from kruntimes_core.framework.runtime.prefilter import InvalidRunResult, PreFilters, PreFilterState
from kruntimes_core.framework.runtime.result_cache import PlanInputs
from kruntimes_core.framework.runtime.score import PodScores, Scorers
from kruntimes_core.framework.runtime.waiting_message import WaitingMessage, choose_waiting_message
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Runtimes whose Pods are kept by one runner.
KEPT_POD_SETS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult:
    """The common part of what comes of planning one Run on one snapshot."""

    prefilter_state: PreFilterState
    rejections: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(plugin, reason) -> how many Pods it rejected; answers of the cache count like new ones."""
    verdicts: Mapping[str, Verdict] | None = None
    """Each Pod's rejection with the place of its plugin; kept only where a plugin is stateful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleResult(PlanResult):
    """The best feasible Pod."""

    pod: RuntimePod


@dataclass(frozen=True, slots=True, kw_only=True)
class Unschedulable(PlanResult):
    """No feasible Pod: the Run waits."""

    waiting_message: WaitingMessage
    retry_at: datetime | None = None
    """The earliest time at which a rejection may turn, besides any change."""
    retry_by: str | None = None
    """The plugin that named this time."""


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""

    error: PluginError


PlanOutcome = ScheduleResult | Unschedulable | InvalidRunResult | PluginFailure


class Runner:
    """Runs the plugins of one profile, and calls them only for what changed since they were called last.

    With `reuse=False` every plugin is called for everything each time; the answers must be the
    same, and a test holds that they are.
    """

    def __init__(self, profile: Profile, reuse: bool = True, records: bool = False) -> None:
        """records: keep each answer of a filter, for `explain`; a stateful plugin's cannot be had again."""
        self.profile = profile
        self._reuse = reuse
        self._records = records or any(plugin.stateful for plugin in profile.plugins)
        self._recorder: Runner | None = None
        self._prefilters = PreFilters(profile, reuse)
        self._filters = Filters(profile, reuse, self._records)
        self._scorers = Scorers(profile, reuse)
        self._pod_sets: dict[tuple[str, str], PodSet] = {}

    @property
    def calls(self) -> int:
        """How often filters and scorers were called, which is for one Pod each time."""
        filters, scorers = self._filters.caches, self._scorers.caches
        return sum([cache.calls for cache in filters]) + sum([cache.calls for cache in scorers])

    def plan(
        self,
        run: Run,
        snapshot: Snapshot,
        excluded: Set[str] = frozenset(),
        before: PreFilterState | None = None,
    ) -> ScheduleResult | Unschedulable | InvalidRunResult:
        """Find the best Pod for `run`, without the Pods named in `excluded` (turned down before).

        before: what the prefilters made of this very Run, to be looked at first. Raises `PluginError` for a
        plugin that raised or answered out of contract.
        """
        inputs = self._prefilter(run, snapshot, before)
        if isinstance(inputs, InvalidRunResult):
            return inputs
        pods = inputs.pods
        filtered = self._filters.run(inputs, pods.present)
        best = self._scorers.best(inputs, filtered.feasible, pods.named(excluded))
        if best is None:
            return self._unschedulable(inputs, filtered)
        return ScheduleResult(
            prefilter_state=inputs.state,
            rejections=self._filters.counted(filtered.rejections()),
            verdicts=filtered.verdicts(pods) if self._records else None,
            pod=pods.pod(best),
        )

    def check(self, run: Run, snapshot: Snapshot, pod_name: str) -> ScheduleResult | None:
        """Call prefilter and filter again for one Pod, before it is reserved.

        None when the Pod is gone, a filter rejects it now, or the Run is invalid by now.
        Raises `PluginError`.
        """
        inputs = self._prefilter(run, snapshot)
        pod = snapshot.pods.get(pod_name)
        if isinstance(inputs, InvalidRunResult) or pod is None:
            return None
        if not self._filters.run(inputs, inputs.pods.named({pod_name})).feasible:
            return None
        return ScheduleResult(prefilter_state=inputs.state, pod=pod)

    def explain(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> tuple[dict[str, Verdict], dict[str, PodScores]]:
        """Each Pod's first rejection, and the scores of the feasible ones, for a record.

        The place in a verdict counts the filters of the profile. Raises `PluginError`.
        """
        if not self._records:
            # A runner of its own: a record may be of an older snapshot, and plans go on from the latest.
            self._recorder = self._recorder or Runner(self.profile, self._reuse, records=True)
            return self._recorder.explain(run, snapshot, excluded)
        inputs = self._prefilter(run, snapshot)
        if isinstance(inputs, InvalidRunResult):
            return {}, {}
        pods = inputs.pods
        filtered = self._filters.run(inputs, pods.present)
        return filtered.verdicts(pods), self._scorers.explain(inputs, filtered.feasible, pods.named(excluded))

    def _prefilter(
        self, run: Run, snapshot: Snapshot, before: PreFilterState | None = None
    ) -> PlanInputs | InvalidRunResult:
        state = self._prefilters.run(run, snapshot, before)
        if isinstance(state, InvalidRunResult):
            return state
        return PlanInputs(run, snapshot, state, self._pod_set(snapshot))

    def _unschedulable(self, inputs: PlanInputs, filtered: FilterResult) -> Unschedulable:
        rejections = filtered.rejections()
        times = [
            (at, self._filters.plugins[place].name)
            for place, (_, _, at), _ in rejections
            if at is not None and at > inputs.snapshot.now
        ]
        retry_at, retry_by = min(times, default=(None, None))
        return Unschedulable(
            prefilter_state=inputs.state,
            rejections=self._filters.counted(rejections),
            verdicts=filtered.verdicts(inputs.pods) if self._records else None,
            waiting_message=choose_waiting_message(self._filters.plugins, rejections, inputs.run.runtime),
            retry_at=retry_at,
            retry_by=retry_by,
        )

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
