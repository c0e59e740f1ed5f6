"""Schedule one: what is tried next, a Run from the queue or a class of waiting ones, and what came of it.

This is what kube-scheduler's ScheduleOne does, cut where plugins are called: there the driver takes the work.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kruntimes_core.engine.batch_retry import BatchRetry
from kruntimes_core.engine.clock import EngineClock
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.decisions import Decision, Journal, Outcome
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import (
    BatchRetryWork,
    PlanWork,
    QueueKeyWork,
    UnreserveWork,
    Work,
    WorkResult,
)
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.scheduling_cycle import SchedulingCycle
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.runtime import PluginFailure
from kruntimes_core.model.run import Phase

# Even if the queue is never empty, one cycle out of this number belongs to the sweep.
_SWEEP_SHARE = 16
CANCELLED_MESSAGE = "cancelled before it was assigned to a runtime pod"


@dataclass(slots=True, eq=False)
class ScheduleOne:
    """Hands out work for one Run after another, and hands on what came of it."""

    _clock: EngineClock
    _profiles: CurrentProfiles
    _queue: SchedulingQueue
    _cycle: SchedulingCycle
    _batch_retry: BatchRetry
    _failures: FailureHandler
    _journal: Journal
    _sweeping: deque[EquivalenceClass] = field(default_factory=deque)
    _taken: int = 0

    # Take

    def take(self) -> Work | None:
        """The next piece of work, or None when nothing can be tried now."""
        self._taken += 1
        return self._cycle.next() or self._take_queue_key() or self._take_run()

    def sweep(self) -> None:
        """Let every class be looked at once, between other work: a lost wakeup ends here."""
        classes = self._queue.unschedulable.classes()
        self._sweeping.extend(waiting for waiting in classes if not waiting.awake and not waiting.in_cycle)

    def _take_queue_key(self) -> QueueKeyWork | None:
        entry, plugin = self._queue.next_awaiting_key(), self._profiles.queue_plugin
        owner = self._profiles.current.queue_profile
        if entry is None or plugin is None or owner is None:
            return None
        return QueueKeyWork(
            entry=entry,
            token=entry.token,
            run=entry.run,
            profile=self._profiles.of(entry.run),
            owner=owner,
            plugin=plugin,
            now=self._clock.now.wall,
            last=self._queue.greatest_key,
            sample=self._queue.last_key,
        )

    def _take_run(self) -> PlanWork | BatchRetryWork | None:
        if self._sweeping and self._taken % _SWEEP_SHARE == 0 and (work := self._take_swept()):
            return work
        while (target := self._queue.pop()) is not None:
            work = self._start_class(target) if isinstance(target, EquivalenceClass) else self._start(target)
            if work is not None:
                return work
        return self._take_swept()

    def _take_swept(self) -> PlanWork | BatchRetryWork | None:
        while self._sweeping:
            waiting = self._sweeping.popleft()
            if waiting.awake or waiting.in_cycle or not waiting.size:
                continue
            waiting.begin_sweep()
            work = self._start_class(waiting)
            if work is not None:
                return work
        return None

    def _start_class(self, waiting: EquivalenceClass) -> PlanWork | BatchRetryWork | None:
        batch = self._batch_retry.take(waiting)
        if batch is not None:
            return batch
        entry = self._queue.unschedulable.begin_cycle(waiting)
        if entry is None:
            return None
        work = self._start(entry, waiting)
        if work is None:
            self._queue.unschedulable.end_cycle(waiting)
        return work

    def _start(self, entry: RunEntry, equivalence_class: EquivalenceClass | None = None) -> PlanWork | None:
        """Begin a cycle for a Run, unless there is nothing to plan: then do what is due instead."""
        seen = entry.observation
        if seen.deleting:
            entry.enter(Stage.IDLE)
            self._note(entry, Outcome.IGNORED, "BeingDeleted")
        elif seen.cancel_requested:
            self._failures.end(entry, Phase.CANCELLED, "Cancelled", CANCELLED_MESSAGE)
        elif self._queue.backoff.retry_due(entry) > self._clock.now.ticks:
            self._queue.delay(entry, entry.retry_delay_until)
            self._note(entry, Outcome.BACKOFF, "RetryDelay", entry.retry_delay_until)
        elif seen.invalid is not None:
            self._failures.end(entry, Phase.FAILED, seen.invalid.reason, seen.invalid.message)
        else:
            return self._cycle.begin(self._cycle.cycle(entry, equivalence_class))
        return None

    def _note(self, entry: RunEntry, outcome: Outcome, reason: str, until: int | None = None) -> None:
        decision = Decision(
            run=entry.run,
            outcome=outcome,
            reason=reason,
            message=entry.observation.message,
            until=self._clock.wall_at(until) if until is not None else None,
        )
        entry.decide(decision, self._journal)

    # Finish

    def finish(self, work: Work, result: WorkResult) -> None:
        """Handle what came of a piece of work."""
        if isinstance(work, UnreserveWork):
            if isinstance(result, PluginFailure):
                self._failures.count_error(result.error)
        elif isinstance(work, BatchRetryWork):
            self._batch_retry.finish(work, result)
        elif isinstance(work, QueueKeyWork):
            self._keyed(work, result)
        else:
            self._cycle.finish(work, result)

    def _keyed(self, work: QueueKeyWork, result: WorkResult) -> None:
        entry, run = work.entry, work.run
        if entry.token != work.token:
            return
        if isinstance(result, PluginFailure):
            self._failures.plugin_failed(work, result.error)
            return
        entry.enter(Stage.IDLE)
        # Labels that changed meanwhile may give another key: the plugin is called again for them.
        if (entry.run.attempt, entry.run.labels) == (run.attempt, run.labels):
            self._queue.give_key(entry, result)
        self._queue.requeue(entry)
