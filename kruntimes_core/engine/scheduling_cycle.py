"""The scheduling cycle of one Run: plan on a snapshot, reserve the chosen Pod, queue the bind.

The plan (`framework.runtime`) calls PreFilter, Filter, Score and Normalize, on a thread that the driver
chooses. A Run becomes unschedulable only when all changes since its snapshot were evaluated for it, and a Pod
is reserved only if every answer still holds (semantics, The cycle).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.engine.api_calls import CallQueue, PendingBind
from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.clock import EngineClock
from kruntimes_core.engine.counters import ConflictStage, Counters
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.decisions import Journal, Outcome
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import CheckWork, Cycle, PlanWork, ReserveAnswer, ReserveWork
from kruntimes_core.engine.reserve import AssumedRuns
from kruntimes_core.engine.runs import Assumption, RunEntry, Stage
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PlanOutcome,
    PlanResult,
    PluginFailure,
    ScheduleResult,
    Unschedulable,
)
from kruntimes_core.model.pod import RuntimePod, shortage
from kruntimes_core.model.run import Phase
from kruntimes_core.model.status_patches import is_waiting_text
from kruntimes_core.model.workspace import WorkspacePhase

# The host's own reason when its capacity check rejects a chosen Pod.
INSUFFICIENT_CAPACITY = "InsufficientCapacity"

CycleWork = PlanWork | CheckWork | ReserveWork
Steps = Generator[CycleWork, Any, None]
"""Yields the pieces of work of a cycle, one after the other, and is sent the result of each."""
Placing = Generator[CycleWork, Any, bool]


@dataclass(slots=True, eq=False)
class SchedulingCycle:
    """Begins cycles, and continues each cycle when its work is finished."""

    _clock: EngineClock
    _profiles: CurrentProfiles
    _cache: Cache
    _queue: SchedulingQueue
    _assumed: AssumedRuns
    _calls: CallQueue
    _failures: FailureHandler
    _journal: Journal
    _counters: Counters
    _due: deque[CycleWork] = field(default_factory=deque)
    """The next work of cycles that have begun; it comes before new cycles."""

    def cycle(self, entry: RunEntry, equivalence_class: EquivalenceClass | None = None) -> Cycle:
        """A cycle that has not begun, with a snapshot taken now. equivalence_class: where its Run waits."""
        run = entry.run
        return Cycle(
            entry,
            entry.token,
            run,
            self._profiles.of(run),
            self._cache.snapshot(run.namespace, run.runtime, self._clock.now.wall),
            self._cache.version(run.namespace),
            equivalence_class,
            entry.prefilter_state,
        )

    def begin(self, cycle: Cycle) -> PlanWork:
        """Begin a cycle: its Run enters the stage SCHEDULING."""
        self._enter(cycle)
        plan = self._plan(cycle)
        cycle.begin(self._schedule(cycle, plan))
        return plan

    def _plan(self, cycle: Cycle) -> PlanWork:
        return PlanWork(
            cycle=cycle,
            run=cycle.run,
            profile=cycle.profile,
            snapshot=cycle.snapshot,
            excluded=frozenset(cycle.turned_down),
        )

    def next(self) -> CycleWork | None:
        """The next work of a cycle that has begun; cycles whose Run left its stage meanwhile are ended."""
        while self._due:
            work = self._due.popleft()
            if not work.cycle.void:
                return work
            self.end(work.cycle)
        return None

    def finish(self, work: CycleWork, result: PlanOutcome | ReserveAnswer | None) -> None:
        """Continue a cycle with the result of its work. None: plan again."""
        cycle = work.cycle
        # Even if the cycle is void, each `reserve` that was called needs its `unreserve`.
        if cycle.steps is None or (cycle.void and not isinstance(work, ReserveWork)):
            self.end(cycle)
            return
        try:
            self._due.append(cycle.steps.send(result))
        except StopIteration:
            self.end(cycle)

    def end(self, cycle: Cycle) -> None:
        """End a cycle, so that the class from which its Run came can be tried further."""
        if cycle.steps is not None:
            cycle.steps.close()
        if cycle.equivalence_class is not None:
            self._queue.unschedulable.end_cycle(cycle.equivalence_class)

    # The steps of a cycle

    def _schedule(self, cycle: Cycle, plan: PlanWork) -> Steps:
        """Plan until a plan still holds at its end and, if it chose a Pod, that Pod is reserved."""
        while True:
            outcome: PlanOutcome | None = yield plan
            if isinstance(outcome, PluginFailure):
                self._failures.plugin_failed(cycle, outcome.error)
                return
            if outcome is not None and self.still_holds(cycle, outcome):
                if isinstance(outcome, InvalidRunResult):
                    self._failures.end(cycle.entry, Phase.FAILED, outcome.reason, outcome.message)
                    return
                self._counters.rejected(outcome.rejections)
                if isinstance(outcome, Unschedulable):
                    self._failures.unschedulable(cycle, outcome, self.still_current(cycle))
                    return
                if (yield from self._place(cycle, outcome)):
                    return
            self._renew(cycle)
            self._enter(cycle)
            plan = self._plan(cycle)

    def _place(self, cycle: Cycle, chosen: ScheduleResult) -> Placing:
        """Reserve the chosen Pod. If the Pod changed since the snapshot, call the filters for it again first.

        False if the Run must be planned again: on a new snapshot, or without the Pods that were rejected.
        """
        while not self._unchanged(cycle, chosen):
            self._renew(cycle)
            checked: ScheduleResult | PluginFailure | None = yield CheckWork(
                cycle=cycle,
                run=cycle.run,
                profile=cycle.profile,
                snapshot=cycle.snapshot,
                pod_name=chosen.pod.name,
            )
            if isinstance(checked, PluginFailure):
                self._failures.plugin_failed(cycle, checked.error)
                return True
            if checked is None:
                return False
            chosen = checked
        assumption = self._assumed.assume(cycle.entry, chosen, cycle.profile)
        if assumption is None:
            self._counters.conflicted(ConflictStage.RESERVE)
            self._no_room(cycle, chosen.pod)
            return False
        cycle.enter(Stage.BINDING)
        if self._profiles.dependencies(cycle.profile).reserves:
            return (yield from self._reserve(cycle, assumption))
        self._bind(cycle, assumption)
        return True

    def _reserve(self, cycle: Cycle, assumption: Assumption) -> Placing:
        """Call the plugins' `reserve`, then queue the bind. The assumption may end meanwhile."""
        entry = cycle.entry
        answer: ReserveAnswer = yield ReserveWork(
            cycle=cycle, run=cycle.run, profile=cycle.profile, assumption=assumption
        )
        assumption.reserved_by(answer.called)
        if entry.assumption is not assumption:
            self._assumed.give_back(assumption, bound=False)
        elif answer.broken is not None:
            self._assumed.release(entry)
            self._failures.plugin_failed(cycle, answer.broken)
        elif answer.turned_down is not None:
            self._assumed.release(entry)
            plugin, reject = answer.turned_down
            cycle.turn_down(plugin.name, {assumption.pod.name: reject})
            return False
        else:
            self._bind(cycle, assumption)
        return True

    def _no_room(self, cycle: Cycle, pod: RuntimePod) -> None:
        """Exclude the Pod from the next plan. If it is the second one without room, exclude all such Pods.

        Two such Pods show that no active filter checks the room. Otherwise there would be a plan for each.
        """
        run, pods = cycle.run, [pod]
        if any(by.plugin is None for by in cycle.turned_down.values()):
            known = self._cache.pods_of(run.namespace, run.runtime).values()
            pods = [pod for pod in known if not pod.fits(run.request)]
        no_room = {pod.name: Reject(INSUFFICIENT_CAPACITY, shortage(pod, run.request)) for pod in pods}
        cycle.turn_down(None, no_room)

    def _bind(self, cycle: Cycle, assumption: Assumption) -> None:
        """Queue the bind of an assumed Run."""
        entry, waiting = cycle.entry, cycle.equivalence_class
        self._calls.put(entry, PendingBind(assumption))
        entry.attempt_ended()
        self._queue.placed(entry)
        standing = entry.observation.message
        decision = cycle.decision(
            outcome=Outcome.SCHEDULED,
            reason="Assigned",
            message="" if is_waiting_text(standing) else standing,
            pod=assumption.pod,
            verdicts=assumption.verdicts,
        )
        entry.decide(decision, self._journal)
        if waiting is not None and waiting.rescued():
            self._counters.rescued()

    # What changed since the snapshot

    def still_holds(self, cycle: Cycle, outcome: PlanResult | InvalidRunResult) -> bool:
        """Whether all that the prefilters read from the snapshot is unchanged."""
        run = cycle.run
        if self._cache.version(run.namespace) == cycle.version:
            return True
        state = outcome.prefilter_state if isinstance(outcome, PlanResult) else outcome
        targets = self._cache.targets(run.namespace)
        if targets is not cycle.snapshot.targets and not state.reads.hold(targets):
            return False
        known = self._cache.workspace(run.namespace, run.workspace) if run.workspace is not None else None
        read = state.workspace
        if read is not None and read.phase is WorkspacePhase.MISSING:
            read = None
        return known == read

    def still_current(self, cycle: Cycle) -> bool:
        """Whether nothing changed since the snapshot that could make a Pod feasible."""
        run = cycle.run
        pods = self._cache.pods_of(run.namespace, run.runtime)
        if pods.changed_since(cycle.snapshot.pods.mark) != []:
            return False
        any_change = self._profiles.dependencies(cycle.profile).any_change
        return not (any_change and cycle.version != self._cache.version(run.namespace))

    def _unchanged(self, cycle: Cycle, chosen: ScheduleResult) -> bool:
        """Whether all values from which the Pod was chosen are unchanged."""
        run = cycle.run
        if self._cache.pods.get(run.namespace, chosen.pod.name) is not chosen.pod:
            return False
        snapshot_counts = self._profiles.dependencies(cycle.profile).snapshot_counts
        if snapshot_counts and cycle.version != self._cache.version(run.namespace):
            return False
        return self.still_holds(cycle, chosen)

    def _enter(self, cycle: Cycle) -> None:
        """Take the Run out of its equivalence class, and enter the stage SCHEDULING."""
        self._queue.unschedulable.remove(cycle.entry)
        cycle.enter(Stage.SCHEDULING)

    def _renew(self, cycle: Cycle) -> None:
        """Continue the cycle with the current Run, profile and snapshot."""
        run = cycle.entry.run
        snapshot = self._cache.snapshot(run.namespace, run.runtime, self._clock.now.wall)
        cycle.renew(self._profiles.of(run), snapshot, self._cache.version(run.namespace))
