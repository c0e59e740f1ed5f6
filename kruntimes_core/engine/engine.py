"""The engine: it takes events, hands out plugin work and API calls, and takes their results.

A driver calls it in a loop: `handle` for each event; `take` for the next work, and `finish` with its result;
`next_request` for the next API call, and `written` or `read` with its answer; and `tick` at the time
`wake_at`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import (
    CallPriority,
    CallQueue,
    Read,
    ReadAnswer,
    Request,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.batch_retry import BatchRetry
from kruntimes_core.engine.binding_cycle import BindingCycle
from kruntimes_core.engine.cache import Cache, RunKey
from kruntimes_core.engine.clock import SECOND, EngineClock, Now, Timers, ticks
from kruntimes_core.engine.counters import Counters, WakeupSource
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.decisions import Journal
from kruntimes_core.engine.failure_handling import FailureHandler
from kruntimes_core.engine.outcome_resolver import OutcomeResolver
from kruntimes_core.engine.plugin_work import BatchRetryWork, Work, WorkResult
from kruntimes_core.engine.reserve import AssumedRuns
from kruntimes_core.engine.run_event_handlers import RunEventHandlers
from kruntimes_core.engine.runs import RunEntry, Runs, Stage
from kruntimes_core.engine.schedule_one import ScheduleOne
from kruntimes_core.engine.scheduling_cycle import SchedulingCycle
from kruntimes_core.engine.scheduling_queue import RunBackoff, SchedulingQueue
from kruntimes_core.framework.configuration import Configuration, Profiles
from kruntimes_core.framework.profile import Profile

_TEXT_DELAY = SECOND
"""Most Runs are placed within a second, and need no text that explains why they wait."""
_LISTS = {events.RunsListed, events.PodsListed, events.WorkspacesListed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Durations in ticks of the monotonic clock."""

    heartbeat_staleness: int = 15 * SECOND
    """A heartbeat of exactly this age is still fresh."""
    backoff_initial: int = SECOND
    backoff_max: int = 60 * SECOND
    sweep_interval: int = 30 * SECOND
    text_delay: int = 0
    """How long a waiting text is held back. A Run that is placed meanwhile never gets a text, which saves
    the API server a write when it is busiest."""

    @classmethod
    def of(cls, configuration: Configuration) -> Settings:
        """The settings of a configuration."""
        return cls(
            heartbeat_staleness=ticks(configuration.heartbeat_staleness_seconds),
            backoff_initial=ticks(configuration.backoff.initial_seconds),
            backoff_max=ticks(configuration.backoff.max_seconds),
            sweep_interval=ticks(configuration.sweep_interval_seconds),
            text_delay=_TEXT_DELAY,
        )


class Engine:
    """Places Pending Runs on Runtime Pods. Called by one thread at a time; most calls pass the time, `now`.

    A driver may read `cache`, `journal` and `counters` between its calls.
    """

    def __init__(self, profiles: Profiles, settings: Settings, now: Now) -> None:
        """Create the parts and connect them: first the parts that hold state, then those that decide."""
        self._settings = settings
        self._clock = clock = EngineClock(now)
        self._timers = timers = Timers()
        self.counters = counters = Counters()
        self.journal = journal = Journal()
        self._profiles = current = CurrentProfiles(profiles)
        self._runs = runs = Runs()
        backoff = RunBackoff(clock, settings.backoff_initial, settings.backoff_max)
        self._queue = queue = SchedulingQueue(current, backoff, clock, timers, counters)
        self.cache = cache = Cache(queue.unschedulable, settings.heartbeat_staleness)
        self._assumed = assumed = AssumedRuns(cache)
        self._calls = calls = CallQueue(runs, timers)

        self._run_handlers = run_handlers = RunEventHandlers(runs, cache, queue, assumed, calls, counters)
        self._binding_cycle = binding = BindingCycle(
            clock, runs, cache, queue, assumed, calls, run_handlers, counters
        )
        self._resolver = OutcomeResolver(timers, runs, queue, calls, run_handlers, binding)

        failures = FailureHandler(settings.text_delay, clock, current, queue, calls, journal, counters)
        cycle = SchedulingCycle(clock, current, cache, queue, assumed, calls, failures, journal, counters)
        batch = BatchRetry(current, queue, cycle, failures, counters)
        self._schedule_one = ScheduleOne(clock, current, queue, cycle, batch, failures, journal)

        self._kinds_seen: set[type] = set()
        """The types of the events that were handled so far."""
        self._leads = False
        self._arm_sweep()

    # Events

    def handle(self, event: events.Event, now: Now) -> None:
        """Update the state with an event that the driver observed."""
        self._clock.advance(now)
        match event:
            case events.RunObserved(observation):
                self._run_handlers.observed(observation)
            case events.RunGone():
                self._run_handlers.gone(event.namespace, event.name, event.uid)
            case events.RunsListed():
                self._run_handlers.listed(event.observations, event.version, event.namespace)
            case events.PodObserved(observation):
                self.cache.pods.observe(observation, now)
            case events.PodGone():
                self.cache.pods.gone(event.namespace, event.name, event.uid, event.version)
            case events.PodsListed():
                self.cache.pods.listed(event.observations, event.version, event.namespace, now)
            case events.WorkspaceObserved(observation):
                self.cache.workspaces.observe(observation)
            case events.WorkspaceGone():
                self.cache.workspaces.gone(event.namespace, event.name, event.uid, event.version)
            case events.WorkspacesListed():
                self.cache.workspaces.listed(event.observations, event.version, event.namespace)
        self._kinds_seen.add(type(event))

    def tick(self, now: Now) -> None:
        """Do what is due at `now`: end delays and backoffs, mark stale heartbeats, begin the sweep."""
        self._advance_to_decide(now)
        for action in self._timers.due(now.ticks):
            action()

    # Work

    def take(self, now: Now) -> Work | None:
        """The next piece of work for a worker; None if there is none now."""
        self._advance_to_decide(now)
        unreserve = self._assumed.next_unreserve()
        if unreserve is not None or not self.deciding:
            return unreserve
        return self._schedule_one.take()

    def finish(self, work: Work, result: WorkResult, now: Now) -> None:
        """Handle the result of a piece of work."""
        self._advance_to_decide(now)
        if isinstance(work, BatchRetryWork) and not self.deciding:
            # An engine that no longer leads decides nothing; the next term tries all of it again.
            result = []
        self._schedule_one.finish(work, result)

    # API calls

    def next_request(self, now: Now, priorities: Iterable[CallPriority] = CallPriority) -> Request | None:
        """The next API call, after a check that it is still wanted. From then on it counts as sent.

        priorities: the priorities that have a turn, the most urgent first.
        """
        self._advance_to_decide(now)
        for priority in priorities:
            request: Request | None = self._binding_cycle.next_read(priority)
            if request is None and self.deciding:
                request = self._binding_cycle.next_write(priority)
            if request is not None:
                return request
        return None

    def waits(self, priority: CallPriority) -> bool:
        """Whether a call of this priority may be waiting for its turn."""
        return self._calls.waits(priority)

    def written(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        """Handle the answer to a write."""
        self._clock.advance(now)
        self._binding_cycle.written(write, answer)

    def read(self, read: Read, answer: ReadAnswer, now: Now) -> None:
        """Handle the answer to a read."""
        self._clock.advance(now)
        self._resolver.read(read, answer)

    # Leading

    def lead(self, now: Now) -> None:
        """Begin to decide, as soon as all resources are listed."""
        self._clock.advance(now)
        self._leads = True

    def stand_down(self, now: Now) -> None:
        """Stop deciding and sending. Answers to calls in flight are still handled."""
        self._clock.advance(now)
        self._leads = False
        for entry in self._runs:
            # A text in flight needs no care; a bind or a terminal status in flight waits for its answer
            # first.
            if entry.stage is Stage.BINDING and entry.assumption and not entry.assumption.guard:
                self._run_handlers.drop_bind(entry)
            elif entry.stage is Stage.SCHEDULING or (
                entry.stage is Stage.ENDING and self._calls.in_flight(entry) is None
            ):
                self._calls.drop(entry)
                self._queue.requeue(entry)

    def reload(self, profiles: Profiles, now: Now) -> None:
        """Use other profiles from now on, and try every waiting Run again."""
        self._clock.advance(now)
        former = self._profiles.queue_plugin
        self._profiles.replace(profiles)
        self._queue.unschedulable.activate_all(WakeupSource.RELOAD)
        if self._profiles.queue_plugin is not former:
            self._queue.forget_keys(self._runs)
        for entry in sorted(self._runs, key=lambda entry: entry.arrival):
            queued = entry.stage in (Stage.QUEUED, Stage.AWAITING_QUEUE_KEY)
            if queued or entry.stage is Stage.SCHEDULING or entry.held_by_plugins:
                entry.enter(Stage.IDLE)
                self._queue.requeue(entry, None if queued else WakeupSource.RELOAD)

    # A driver may read the following between its calls; reading changes nothing

    @property
    def profiles(self) -> Profiles:
        """The current profiles."""
        return self._profiles.current

    @property
    def pending_profiles(self) -> list[Profile]:
        """The profiles that have Pending Runs."""
        places = {self._profiles.current.of(runtime): None for runtime in self._runs.pending_runtimes}
        return list(places)

    @property
    def profiles_in_use(self) -> list[Profile]:
        """The current profiles, and former ones whose plugins may still get an `unreserve`."""
        places = dict.fromkeys(self.profiles.all)
        places.update((entry.assumption.profile, None) for entry in self._runs if entry.assumption)
        places.update(dict.fromkeys(self._assumed.profiles_due))
        return list(places)

    @property
    def synced(self) -> bool:
        """Whether Runs, Pods and workspaces have been listed. Before that, the engine decides nothing."""
        return self._kinds_seen >= _LISTS

    @property
    def deciding(self) -> bool:
        """Whether the engine places Runs now: it leads, and all resources are listed."""
        return self._leads and self.synced

    @property
    def wake_at(self) -> int | None:
        """When `tick` is due, in ticks of the monotonic clock."""
        moments = (self._timers.next, self.cache.pods.next_expiry)
        return min((at for at in moments if at is not None), default=None)

    def find(self, namespace: str, name: str) -> RunEntry | None:
        """The Run that has this name now, with its last decision."""
        return self._runs.named(namespace, name)

    def knows(self, key: RunKey) -> bool:
        """Whether the engine has a Run of that namespace and UID."""
        return self._runs.get(key) is not None

    def in_flight(self, entry: RunEntry) -> Write | None:
        """The write for a Run that was handed out and has no answer yet."""
        return self._calls.in_flight(entry)

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of entries in the tables that must shrink again when Runs are deleted."""
        return {
            "runs": len(self._runs),
            "queue": len(self._queue.active),
            "awaiting_queue_key": self._queue.awaiting_key_size,
            "calls": len(self._calls),
            "timers": len(self._timers),
            "allocations": self.cache.allocations,
            "unschedulable": len(self._queue.unschedulable),
            "classes": len(self._queue.unschedulable.classes()),
        }

    # Inside

    def _advance_to_decide(self, now: Now) -> None:
        """Advance the clock, and mark stale heartbeats, so that no late tick makes a decision rely on one."""
        self._clock.advance(now)
        self.cache.pods.expire(now)

    def _arm_sweep(self) -> None:
        def sweep() -> None:
            if self.deciding:
                self._schedule_one.sweep()
            self._arm_sweep()

        self._timers.at(self._clock.now.ticks + self._settings.sweep_interval, lambda: True, sweep)
