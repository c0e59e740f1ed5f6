"""Batched retry: when Pods changed, the first Runs of many waiting classes are planned in one piece of work.

While no waiting Run can use what changed, which is nearly always, the first Run of each class stays where
it is, and a retry costs a few looks at the result cache. The Run gets a cycle of its own when it finds a
Pod, when a plugin fails, or when it changed meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.counters import Counters
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import BatchRetryWork, Cycle, PlanWork
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.scheduling_cycle import SchedulingCycle
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, Unschedulable

# Classes in one batch. What comes meanwhile waits for it, even if its place in the queue is before them.
_BATCH_SIZE = 64


@dataclass(slots=True, eq=False)
class BatchRetry:
    """Takes classes from the queue in batches, and handles what came of them."""

    _profiles: CurrentProfiles
    _queue: SchedulingQueue
    _cycle: SchedulingCycle
    _failures: FailureHandler
    _counters: Counters

    # Take

    def take(self, first: EquivalenceClass) -> BatchRetryWork | None:
        """Retry a class, and those that are next in the queue, on one snapshot.

        None where the class cannot be part of a batch: its first Run gets a cycle at once.
        """
        retry = self._retry(first)
        if retry is None:
            return None
        retries = [retry]
        while len(retries) < _BATCH_SIZE and (next_retry := self._next_class(retry)) is not None:
            retries.append(next_retry)
        next_plan = self._next_run(retry.profile)
        return BatchRetryWork(
            cycle=next_plan.cycle if next_plan is not None else retry,
            run=next_plan.run if next_plan is not None else retry.run,
            profile=retry.profile,
            retries=tuple(retries),
            next_plan=next_plan,
        )

    def _retry(self, waiting: EquivalenceClass, like: Cycle | None = None) -> Cycle | None:
        """The cycle of the first Run of a class, not begun, if the class can be part of a batch.

        like: the first one of the batch, whose snapshot is that of all.
        """
        entry = waiting.first()
        if entry is None or waiting.swept or waiting.retry_alone or waiting.dependencies.any_change:
            return None
        if not self._queue.eligible(entry):
            return None
        waiting.begin_cycle()
        if like is None:
            return self._cycle.cycle(entry, waiting)
        before = entry.prefilter_state
        return Cycle(
            entry, entry.token, entry.run, like.profile, like.snapshot, like.version, waiting, before
        )

    def _next_class(self, like: Cycle) -> Cycle | None:
        """The retry of the class that is next in the queue, if it is of the same Runtime and profile."""
        waiting, first = self._queue.active.peek(), like.equivalence_class
        if not isinstance(waiting, EquivalenceClass) or first is None or waiting.key[:3] != first.key[:3]:
            return None
        retry = self._retry(waiting, like)
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
        current = bool(outcomes) and self._cycle.still_current(work.retries[0])
        for retry, outcome in zip(work.retries, outcomes, strict=False):
            self._finish_retry(work, retry, outcome, current)
        for retry in work.retries[len(outcomes) :]:
            self._cycle.end(retry)
        next_plan = work.next_plan
        if next_plan is None:
            return
        if next_plan.cycle.void:
            self._cycle.end(next_plan.cycle)
        elif len(outcomes) > len(work.retries):
            self._finish_plan(next_plan, outcomes[-1], first=False)
        else:
            self._cycle.end(next_plan.cycle)
            self._queue.requeue(next_plan.cycle.entry)

    def _abandoned(self, work: BatchRetryWork, broken: PluginFailure) -> list[PlanOutcome]:
        """A call did not return, and for which class is not known: from here on each is tried by itself."""
        if len(work.retries) == 1 and work.next_plan is None:
            return [broken]
        for retry in work.retries:
            if retry.equivalence_class is not None:
                retry.equivalence_class.keep_apart()
        self._failures.count_error(broken.error)
        return []

    def _finish_retry(self, work: BatchRetryWork, retry: Cycle, outcome: PlanOutcome, current: bool) -> None:
        waiting = retry.equivalence_class
        if retry.void or waiting is None:  # it has left the class: the next one is tried
            self._cycle.end(retry)
        elif isinstance(outcome, Unschedulable) and outcome.prefilter_state.class_key == waiting.key[3]:
            if self._cycle.still_holds(retry, outcome):
                self._counters.rejected(outcome.rejections)
                self._failures.unschedulable(retry, outcome, current)
            self._queue.unschedulable.end_cycle(waiting)
        else:
            self._finish_plan(self._cycle.begin(retry), outcome, first=retry is work.retries[0])

    def _finish_plan(self, plan: PlanWork, outcome: PlanOutcome, first: bool) -> None:
        """What came of one plan of a batch. first: none was made before it.

        A plan that was interrupted is made again by itself: those before it may have used up its time.
        """
        overtime = isinstance(outcome, PluginFailure) and outcome.error.overtime
        self._cycle.finish(plan, None if overtime and not first else outcome)
