"""Reserve: what a plan was made from is checked again, the Run is assumed on its Pod, and the bind queued."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.engine.api_calls import CallQueue, PendingBind
from kruntimes_core.engine.assumed_runs import AssumedRuns
from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.counters import ConflictStage, Counters
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.cycle_steps import CycleSteps
from kruntimes_core.engine.decisions import Journal, Outcome, ReserveRejection
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import CheckWork, PlanWork, ReserveAnswer, ReserveWork, RunWork
from kruntimes_core.engine.runs import Stage
from kruntimes_core.engine.scheduling_queue import greatest, key_of
from kruntimes_core.framework.plugin_results import Reject
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PlanOutcome,
    PluginFailure,
    PreFilterState,
    ScheduleResult,
    Unschedulable,
)
from kruntimes_core.model.pod import RuntimePod, shortage
from kruntimes_core.model.run import Phase, Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.status_patches import is_waiting_text
from kruntimes_core.model.workspace import WorkspacePhase

# The host's own reason when its capacity check turns a chosen Pod down.
INSUFFICIENT_CAPACITY = "InsufficientCapacity"


class Reserve:
    """What follows on a plan: reserve the chosen Pod, or let the Run wait, end or be planned again."""

    def __init__(
        self,
        profiles: CurrentProfiles,
        cache: Cache,
        assumed: AssumedRuns,
        calls: CallQueue,
        steps: CycleSteps,
        failures: FailureHandler,
        journal: Journal,
        counters: Counters,
    ) -> None:
        self._profiles = profiles
        self._cache = cache
        self._assumed = assumed
        self._calls = calls
        self._steps = steps
        self._failures = failures
        self._journal = journal
        self._counters = counters
        self._greatest_key: object = None

    def planned(self, work: PlanWork, outcome: PlanOutcome) -> None:
        """A plan came back, and the Run is still the same."""
        if isinstance(outcome, PluginFailure):
            self._steps.fail(work, outcome.error)
        elif not self.still_holds(
            work.run,
            outcome if isinstance(outcome, InvalidRunResult) else outcome.prefilter_state,
            work.snapshot,
        ):
            self._steps.plan_again(work)
        elif isinstance(outcome, InvalidRunResult):
            self._failures.end(work.entry, Phase.FAILED, outcome.reason, outcome.message)
            self._steps.end(work)
        elif isinstance(outcome, Unschedulable):
            self._counters.rejected(outcome.rejections)
            self._failures.unschedulable(work, outcome)
            self._steps.end(work)
        else:
            self._counters.rejected(outcome.rejections)
            self._chosen(work, outcome)

    def checked(self, work: CheckWork, outcome: ScheduleResult | PluginFailure | None) -> None:
        """The filters were called again for the chosen Pod."""
        if isinstance(outcome, PluginFailure):
            self._steps.fail(work, outcome.error)
        elif outcome is None:
            self._steps.plan_again(work)
        else:
            self._chosen(work, outcome)

    def still_holds(self, run: Run, state: PreFilterState | InvalidRunResult, snapshot: Snapshot) -> bool:
        """Whether what the prefilters read of the snapshot is still so."""
        targets = self._cache.targets(run.namespace)
        if targets is not snapshot.targets and not state.reads.hold(targets):
            return False
        known = (
            self._cache.workspaces.get(run.namespace, run.workspace) if run.workspace is not None else None
        )
        read = state.workspace
        if read is not None and read.phase is WorkspacePhase.MISSING:
            read = None
        return known == read

    def _chosen(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Reserve the chosen Pod if all that it was chosen by is the same, else call the filters first."""
        run = work.run
        same_pod = self._cache.pods.get(run.namespace, chosen.pod.name) is chosen.pod
        snapshot_counts = self._profiles.dependencies(work.profile).snapshot_counts
        moved = snapshot_counts and work.version != self._cache.version(run.namespace)
        if not same_pod or moved or not self.still_holds(run, chosen.prefilter_state, work.snapshot):
            self._steps.check(work, chosen)
        else:
            self._reserve(work, chosen)

    # Reserve, assume, bind

    @property
    def greatest_key(self) -> object:
        """The greatest queue key of the Runs placed so far."""
        return self._greatest_key

    def forget_keys(self) -> None:
        """Another plugin orders the queue from now on."""
        self._greatest_key = None

    def _reserve(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Reserve room on the chosen Pod, which is as it was when it was chosen."""
        entry = work.entry
        if not self._assumed.assume(entry, chosen, work.profile):
            self._counters.conflicted(ConflictStage.RESERVE)
            self._no_room(work, chosen.pod)
            return
        entry.enter(Stage.BINDING)
        if self._profiles.dependencies(work.profile).reserves and entry.assumption is not None:
            self._steps.reserve(work, entry.assumption)
        else:
            self._bind(work)

    def reserved(self, work: ReserveWork, answer: ReserveAnswer) -> None:
        """The plugins' `reserve` was called. The assumption may have ended meanwhile."""
        entry, assumption = work.entry, work.assumption
        assumption.reserved_by(answer.called)
        if entry.assumption is not assumption:
            self._assumed.give_back(assumption, bound=False)
            self._steps.end(work)
        elif answer.broken is not None:
            self._assumed.release(entry)
            self._steps.fail(work, answer.broken)
        elif answer.turned_down is not None:
            self._assumed.release(entry)
            plugin, reject = answer.turned_down
            self._turn_down(work, {assumption.pod.name: ReserveRejection(plugin.name, reject)})
        else:
            self._bind(work)

    def _no_room(self, work: RunWork, pod: RuntimePod) -> None:
        """Leave the Pod out; when it is not the first, all Pods without room.

        Then no active filter knows about room, and a plan for each of them would come to nothing in turn.
        """
        run, pods = work.run, [pod]
        if any(by.plugin is None for by in work.entry.turned_down.values()):
            known = self._cache.pods_of(run.namespace, run.runtime).values()
            pods = [pod for pod in known if not pod.fits(run.request)]
        no_room = {pod.name: Reject(INSUFFICIENT_CAPACITY, shortage(pod, run.request)) for pod in pods}
        self._turn_down(work, {name: ReserveRejection(None, reject) for name, reject in no_room.items()})

    def _turn_down(self, work: RunWork, by_pod: Mapping[str, ReserveRejection]) -> None:
        """Leave these Pods out and try the next best in the same cycle."""
        work.entry.turn_down(by_pod)
        self._steps.plan_again(work)

    def _bind(self, work: RunWork) -> None:
        """Queue the bind of an assumed Run."""
        entry, waiting = work.entry, work.equivalence_class
        assumption = entry.assumption
        if assumption is None:
            raise AssertionError(f"run {entry.key} is to be bound without a reservation")
        self._calls.put(entry, PendingBind(assumption))
        self._greatest_key = greatest(self._greatest_key, key_of(entry.order))
        standing = entry.observation.message
        decision = work.decision(
            outcome=Outcome.SCHEDULED,
            reason="Assigned",
            message="" if is_waiting_text(standing) else standing,
            pod=assumption.pod,
            verdicts=assumption.verdicts,
        )
        self._journal.note(entry.decide(decision), decision)
        if waiting is not None and waiting.rescued():
            self._counters.rescued()
        self._steps.end(work)
