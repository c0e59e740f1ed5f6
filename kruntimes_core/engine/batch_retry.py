"""Batched retry: when Pods changed, the first Runs of many waiting classes are planned in one piece of work.

While no waiting Run can use what changed, which is nearly always, the first Run of each class stays where
it is, and a retry costs a few looks at the result cache. The Run gets a cycle of its own when it finds a
Pod, when a plugin fails, or when it changed meanwhile.
"""

from __future__ import annotations

from kruntimes_core.engine.counters import Counters
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import BatchRetryWork, PlanWork
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.scheduling_cycle import SchedulingCycle
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, Unschedulable

# Classes in one batch. What comes meanwhile waits for it, even if its place in the queue is before them.
_BATCH_SIZE = 64


class BatchRetry:
    """Takes classes from the queue in batches, and handles what came of them."""

    def __init__(
        self,
        profiles: CurrentProfiles,
        queue: SchedulingQueue,
        cycle: SchedulingCycle,
        failures: FailureHandler,
        counters: Counters,
    ) -> None:
        self._profiles = profiles
        self._queue = queue
        self._cycle = cycle
        self._failures = failures
        self._counters = counters

    # Take

    def take(self, first: EquivalenceClass) -> BatchRetryWork | None:
        """Retry a class, and those that are next in the queue, on one snapshot.

        None where the class cannot be part of a batch: its first Run gets a cycle at once.
        """
        retry = self._retry(first)
        if retry is None:
            return None
        retries = [retry]
        while len(retries) < _BATCH_SIZE and (next_retry := self._next_class(first)) is not None:
            retries.append(next_retry)
        next_plan = self._next_run(retry.profile)
        leading = retry if next_plan is None else next_plan
        return BatchRetryWork(
            cycle=leading.cycle,
            run=leading.run,
            profile=leading.profile,
            retries=tuple(retries),
            next_plan=next_plan,
        )

    def _retry(self, waiting: EquivalenceClass) -> PlanWork | None:
        """The plan for the first Run of a class, where that waits, if the class can be part of a batch."""
        entry = waiting.first()
        if entry is None or waiting.swept or waiting.retry_alone or waiting.dependencies.any_change:
            return None
        if not self._queue.eligible(entry):
            return None
        waiting.begin_cycle()
        return self._cycle.plan(self._cycle.cycle(entry, waiting), before=entry.prefilter_state)

    def _next_class(self, like: EquivalenceClass) -> PlanWork | None:
        """The retry of the class that is next in the queue, if it is of the same Runtime and profile."""
        waiting = self._queue.active.peek()
        if not isinstance(waiting, EquivalenceClass) or waiting.key[:3] != like.key[:3]:
            return None
        retry = self._retry(waiting)
        if retry is not None:
            self._queue.active.pop_peeked()
        return retry

    def _next_run(self, profile: Profile) -> PlanWork | None:
        """The plan of the Run that is next in the queue, if it has the same profile."""
        entry = self._queue.active.peek()
        if not isinstance(entry, RunEntry) or self._profiles.of(entry.run) is not profile:
            return None
        if not self._queue.eligible(entry):  # it is cancelled or failed only after the retries were made
            return None
        self._queue.active.pop_peeked()
        return self._cycle.begin(self._cycle.cycle(entry))

    # Finish

    def finish(self, work: BatchRetryWork, result: list[PlanOutcome] | PluginFailure) -> None:
        """Handle what came of a batch; what was not reached is retried later."""
        outcomes = self._abandoned(work, result) if isinstance(result, PluginFailure) else result
        # Only the last one may reserve, so what is current for the first is for all.
        current = bool(outcomes) and self._cycle.still_current(work.retries[0].cycle)
        for retry, outcome in zip(work.retries, outcomes, strict=False):
            self._finish_retry(work, retry, outcome, current)
        for retry in work.retries[len(outcomes) :]:
            self._cycle.end(retry.cycle)
        next_plan = work.next_plan
        if next_plan is None or next_plan.cycle.void:
            return
        if len(outcomes) > len(work.retries):
            self._finish_plan(next_plan, outcomes[-1], first=False)
        else:
            self._queue.requeue(next_plan.cycle.entry)

    def _abandoned(self, work: BatchRetryWork, broken: PluginFailure) -> list[PlanOutcome]:
        """A call did not come back, and which class it hung for is not known: each is tried by itself now."""
        if len(work.retries) == 1 and work.next_plan is None:
            return [broken]
        for retry in work.retries:
            if retry.cycle.equivalence_class is not None:
                retry.cycle.equivalence_class.keep_apart()
        self._failures.count_error(broken.error)
        return []

    def _finish_retry(
        self, work: BatchRetryWork, retry: PlanWork, outcome: PlanOutcome, current: bool
    ) -> None:
        cycle, waiting = retry.cycle, retry.cycle.equivalence_class
        if cycle.void or waiting is None:  # it has left the class: the next one is tried
            self._cycle.end(cycle)
        elif isinstance(outcome, Unschedulable) and outcome.prefilter_state.class_key == waiting.key[3]:
            if self._cycle.still_holds(cycle, outcome):
                self._counters.rejected(outcome.rejections)
                self._failures.unschedulable(cycle, outcome, current)
            self._cycle.end(cycle)
        else:
            self._finish_plan(self._cycle.begin(cycle), outcome, first=retry is work.retries[0])

    def _finish_plan(self, plan: PlanWork, outcome: PlanOutcome, first: bool) -> None:
        """What came of one plan of a batch. first: none was made before it.

        A plan that was interrupted is made again by itself: those before it may have used up its time.
        """
        overtime = isinstance(outcome, PluginFailure) and outcome.error.overtime
        self._cycle.finish(plan, None if overtime and not first else outcome)
