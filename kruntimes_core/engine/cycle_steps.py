"""The steps of the scheduling cycles under way: a plan, perhaps a check of its Pod, and `reserve`."""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.clock import EngineClock
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.plugin_work import (
    BatchRetryWork,
    CheckWork,
    ClassRetry,
    PlanWork,
    ReserveWork,
    RunWork,
)
from kruntimes_core.engine.runs import Assumption, RunEntry, Stage
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.framework.runtime import ScheduleResult


class CycleSteps:
    """Begins cycles, lets them go on with their next step, and ends them."""

    def __init__(
        self,
        clock: EngineClock,
        profiles: CurrentProfiles,
        cache: Cache,
        queue: SchedulingQueue,
        failures: FailureHandler,
    ) -> None:
        self._clock = clock
        self._profiles = profiles
        self._cache = cache
        self._queue = queue
        self._failures = failures
        self._due: deque[PlanWork | CheckWork | ReserveWork] = deque()
        """Work that goes on at once with a cycle under way."""

    def next(self) -> PlanWork | CheckWork | ReserveWork | None:
        """The next step of a cycle under way, if it was not made void meanwhile."""
        while self._due:
            work = self._due.popleft()
            if work.entry.token == work.token:
                return work
            self.end(work)
        return None

    # Beginning

    def plan(self, entry: RunEntry, equivalence_class: EquivalenceClass | None) -> PlanWork:
        """Take the snapshot for a Run's plan, without the Pods that turned it down in this cycle."""
        run = entry.run
        self._queue.enter(entry, Stage.SCHEDULING)
        return PlanWork(
            entry=entry,
            token=entry.token,
            run=run,
            profile=self._profiles.of(run),
            equivalence_class=equivalence_class,
            snapshot=self._cache.snapshot(run.namespace, run.runtime, self._clock.now.wall),
            version=self._cache.version(run.namespace),
            excluded=frozenset(entry.turned_down),
        )

    def begun(self, work: BatchRetryWork, retry: ClassRetry) -> PlanWork:
        """The plan that was made for a Run while it waited, as one that was taken for itself."""
        entry = retry.entry
        self._queue.enter(entry, Stage.SCHEDULING)
        entry.begin_cycle()
        return PlanWork(
            entry=entry,
            token=entry.token,
            run=retry.run,
            profile=work.profile,
            equivalence_class=retry.equivalence_class,
            snapshot=work.snapshot,
            version=work.version,
        )

    # Going on

    def plan_again(self, work: RunWork) -> None:
        """Plan again at once: without the Pods turned down, or from what has changed."""
        self._due.append(self.plan(work.entry, work.equivalence_class))

    def check(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Call the filters again for the chosen Pod, as it is now."""
        run = work.run
        self._due.append(
            CheckWork(
                entry=work.entry,
                token=work.entry.token,
                run=run,
                profile=work.profile,
                equivalence_class=work.equivalence_class,
                snapshot=self._cache.snapshot(run.namespace, run.runtime, self._clock.now.wall),
                version=self._cache.version(run.namespace),
                pod_name=chosen.pod.name,
            )
        )

    def reserve(self, work: PlanWork | CheckWork, assumption: Assumption) -> None:
        """Call the plugins' `reserve`: the host has reserved the room."""
        self._due.append(
            ReserveWork(
                entry=work.entry,
                token=work.entry.token,
                run=work.run,
                profile=work.profile,
                equivalence_class=work.equivalence_class,
                assumption=assumption,
                snapshot=work.snapshot,
            )
        )

    # Ending

    def fail(self, work: RunWork, error: PluginError) -> None:
        """The cycle is over, because a plugin failed."""
        self._failures.plugin_failed(work, error)
        self.end(work)

    def end(self, work: RunWork) -> None:
        """The cycle is over: the class that the Run came from goes on."""
        if work.equivalence_class is not None:
            self._queue.unschedulable.end_cycle(work.equivalence_class)
