"""Batched retry: when Pods changed, the first Runs of many waiting classes are planned in one piece of work.

While no waiting Run can use what changed, which is nearly always, the first Run of each class stays where
it is, and a retry costs a few looks at the result cache. The Run gets a cycle of its own when it finds a
Pod, when a plugin fails, or when it changed meanwhile.
"""

from __future__ import annotations

from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.clock import EngineClock
from kruntimes_core.engine.commit import Commit
from kruntimes_core.engine.counters import Counters
from kruntimes_core.engine.cycle_steps import CycleSteps
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.profiles import CurrentProfiles
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.engine.work import BatchRetryWork, ClassRetry, PlanWork
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, Unschedulable
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Classes in one batch. What comes meanwhile waits for it, even if its place in the queue is before them.
_BATCH_SIZE = 64


class BatchRetry:
    """Takes classes from the queue in batches, and handles what came of them."""

    def __init__(
        self,
        clock: EngineClock,
        profiles: CurrentProfiles,
        cache: Cache,
        queue: SchedulingQueue,
        steps: CycleSteps,
        commit: Commit,
        failures: FailureHandler,
        counters: Counters,
    ) -> None:
        self._clock = clock
        self._profiles = profiles
        self._cache = cache
        self._queue = queue
        self._steps = steps
        self._commit = commit
        self._failures = failures
        self._counters = counters

    # Take

    def take(self, first: EquivalenceClass) -> BatchRetryWork | None:
        """Retry a class, and those that are next in the queue, on one snapshot.

        None where the class cannot be part of a batch: its first Run gets a cycle at once.
        """
        retry = self._begin(first)
        if retry is None:
            return None
        retries = [retry]
        while len(retries) < _BATCH_SIZE and (retry := self._next(first)) is not None:
            retries.append(retry)
        run = retries[0].run
        profile = self._profiles.of(run)
        next_plan = self._next_run(profile)
        return BatchRetryWork(
            entry=next_plan.entry if next_plan is not None else retries[0].entry,
            token=next_plan.token if next_plan is not None else retries[0].token,
            run=next_plan.run if next_plan is not None else run,
            profile=profile,
            retries=tuple(retries),
            snapshot=self._snapshot(run, next_plan),
            version=self._cache.version(run.namespace),
            next_plan=next_plan,
        )

    def _begin(self, waiting: EquivalenceClass) -> ClassRetry | None:
        """The retry of the first Run of a class, if the class can be part of a batch."""
        entry = waiting.first()
        if entry is None or waiting.swept or waiting.retry_alone or waiting.dependencies.any_change:
            return None
        if not self._queue.eligible(entry):
            return None
        waiting.begin_cycle()
        return ClassRetry(waiting, entry, entry.token, entry.run, entry.prefilter_state)

    def _next(self, like: EquivalenceClass) -> ClassRetry | None:
        """The retry of the class that is next in the queue, if it is of the same Runtime and profile."""
        waiting = self._queue.peek()
        if not isinstance(waiting, EquivalenceClass) or waiting.key[:3] != like.key[:3]:
            return None
        retry = self._begin(waiting)
        if retry is not None:
            self._queue.pop_peeked()
        return retry

    def _next_run(self, profile: Profile) -> PlanWork | None:
        """The plan of the Run that is next in the queue, if it has the same profile."""
        entry = self._queue.peek()
        if not isinstance(entry, RunEntry) or self._profiles.of(entry.run) is not profile:
            return None
        if not self._queue.eligible(entry):  # it is cancelled or failed only after the retries were made
            return None
        self._queue.pop_peeked()
        entry.begin_cycle()
        return self._steps.plan(entry, None)

    def _snapshot(self, run: Run, next_plan: PlanWork | None) -> Snapshot:
        """What the retries are made from; that of the plan after them, where it is the same."""
        if next_plan is not None and (next_plan.run.namespace, next_plan.run.runtime) == (
            run.namespace,
            run.runtime,
        ):
            return next_plan.snapshot
        return self._cache.snapshot(run.namespace, run.runtime, self._clock.now.wall)

    # Finish

    def finish(self, work: BatchRetryWork, result: list[PlanOutcome] | PluginFailure) -> None:
        """Handle what came of a batch; what was not reached is retried later."""
        outcomes = self._abandoned(work, result) if isinstance(result, PluginFailure) else result
        current = bool(outcomes) and self._failures.still_current(work)  # only the last one may reserve
        for retry, outcome in zip(work.retries, outcomes, strict=False):
            self._handle(work, retry, outcome, current)
        for retry in work.retries[len(outcomes) :]:
            self._queue.unschedulable.end_cycle(retry.equivalence_class)
        next_plan = work.next_plan
        if next_plan is None or next_plan.entry.token != next_plan.token:
            return
        if len(outcomes) > len(work.retries):
            self._planned(next_plan, outcomes[-1], first=False)
        else:
            self._queue.requeue(next_plan.entry)

    def _abandoned(self, work: BatchRetryWork, broken: PluginFailure) -> list[PlanOutcome]:
        """A call did not come back, and which class it hung for is not known: each is tried by itself now."""
        if len(work.retries) == 1 and work.next_plan is None:
            return [broken]
        for retry in work.retries:
            retry.equivalence_class.keep_apart()
        self._failures.count_error(broken.error)
        return []

    def _handle(self, work: BatchRetryWork, retry: ClassRetry, outcome: PlanOutcome, current: bool) -> None:
        waiting, entry = retry.equivalence_class, retry.entry
        if entry.token != retry.token:  # it has left the class: the next one is tried
            self._queue.unschedulable.end_cycle(waiting)
        elif isinstance(outcome, Unschedulable) and outcome.prefilter_state.class_key == waiting.key[3]:
            if self._commit.still_holds(retry.run, outcome.prefilter_state, work.snapshot):
                self._counters.rejected(outcome.rejections)
                self._failures.keep_unschedulable(work, retry, outcome, current)
            self._queue.unschedulable.end_cycle(waiting)
        else:
            self._planned(self._steps.begun(work, retry), outcome, first=retry is work.retries[0])

    def _planned(self, plan: PlanWork, outcome: PlanOutcome, first: bool) -> None:
        """What came of one plan of a batch. first: none was made before it.

        A plan that was interrupted is made again by itself: those before it may have used up its time.
        """
        if isinstance(outcome, PluginFailure) and outcome.error.overtime and not first:
            self._steps.plan_again(plan)
        else:
            self._commit.planned(plan, outcome)
