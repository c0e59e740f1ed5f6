"""The scheduling queue: active Runs, Runs in backoff or awaiting a queue key, and unschedulable ones."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kruntimes_core.engine.clock import SECOND, EngineClock, Timers
from kruntimes_core.engine.counters import Counters, WakeupSource
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.scheduling_queue.active_queue import ActiveQueue, EquivalenceClass
from kruntimes_core.engine.scheduling_queue.backoff import RunBackoff
from kruntimes_core.engine.scheduling_queue.queue_sort import by_arrival, by_key, greatest, key_of
from kruntimes_core.engine.scheduling_queue.unschedulable_runs import UnschedulableRuns

SMALLEST_PAUSE = SECOND // 10
"""In ticks. A plugin that names the next moment each time must not keep the host busy."""


class SchedulingQueue:
    """Every Pending Run that is not being scheduled or bound stands in it, once."""

    def __init__(
        self,
        profiles: CurrentProfiles,
        backoff: RunBackoff,
        clock: EngineClock,
        timers: Timers,
        counters: Counters,
    ) -> None:
        self._profiles = profiles
        self._clock = clock
        self.backoff = backoff
        self._timers = timers
        self.active = ActiveQueue()
        self.unschedulable = UnschedulableRuns(self.active, counters)
        self._awaiting_key: dict[RunEntry, None] = {}
        """In order of arrival."""
        self._arrivals = 0
        self.greatest_key: object = None
        """The greatest queue key of the Runs placed so far."""
        self.last_key: object = None
        """The queue key that was given last."""

    @property
    def awaiting_key_size(self) -> int:
        """How many Runs wait for their queue key."""
        return len(self._awaiting_key)

    # Into the queue

    def arrive(self, entry: RunEntry) -> None:
        """A Run is Pending for the first time, or again: it queues behind those before it."""
        self._arrivals += 1
        entry.arrive(self._arrivals, self._clock.now.ticks, by_arrival(self._arrivals))
        self.requeue(entry)

    def requeue(self, entry: RunEntry, cause: WakeupSource | None = None) -> None:
        """Queue a Run. `queue_key` is called for it first if it has no key for what it is now."""
        if not self._needs_key(entry):
            self.unschedulable.activate(entry, cause)
        elif entry.stage is not Stage.AWAITING_QUEUE_KEY:
            self.enter(entry, Stage.AWAITING_QUEUE_KEY)
            self._awaiting_key[entry] = None

    def _needs_key(self, entry: RunEntry) -> bool:
        """Whether a plugin orders the queue, and has given this Run no key for what it is now."""
        if self._profiles.queue_plugin is None:
            return False
        return entry.keyed_for != _keyed_for(entry) and self.eligible(entry)

    def enter(self, entry: RunEntry, stage: Stage) -> None:
        """Take a Run out of its class, if it waits, and let it go on to a stage."""
        self.unschedulable.remove(entry)
        entry.enter(stage)

    def forget(self, entry: RunEntry) -> None:
        """The Run does not exist any more."""
        self.enter(entry, Stage.IDLE)
        self._awaiting_key.pop(entry, None)

    # Out of the queue

    def pop(self) -> RunEntry | EquivalenceClass | None:
        """The Run or class that is next; None when nothing can be tried."""
        self.unschedulable.flush_changes()
        return self.active.pop()

    # Queue keys

    def next_awaiting_key(self) -> RunEntry | None:
        """The next Run that `queue_key` is to be called for."""
        while self._awaiting_key and self._profiles.queue_plugin is not None:
            entry = next(iter(self._awaiting_key))
            del self._awaiting_key[entry]
            if entry.stage is Stage.AWAITING_QUEUE_KEY:
                return entry
        return None

    def give_key(self, entry: RunEntry, key: object) -> None:
        """Place a Run by the key that the plugin gave for what it is now."""
        self.last_key = key
        entry.set_order(by_key(key, entry.arrival), _keyed_for(entry))

    def placed(self, entry: RunEntry) -> None:
        """A Run was placed: `queue_key` is told of the greatest key so far."""
        self.greatest_key = greatest(self.greatest_key, key_of(entry.order))

    def forget_keys(self, entries: Iterable[RunEntry]) -> None:
        """Place Runs by their arrival again: another plugin orders the queue, or none."""
        self.greatest_key = self.last_key = None
        for entry in entries:
            entry.set_order(by_arrival(entry.arrival), None)

    # Backoff

    def eligible(self, entry: RunEntry) -> bool:
        """Whether a Run is to be placed now: not cancelled, invalid, or in its retry delay."""
        seen = entry.observation
        barred = seen.cancel_requested or seen.deleting or seen.invalid is not None
        return not barred and self.backoff.retry_due(entry) <= self._clock.now.ticks

    def delay(self, entry: RunEntry, until: int) -> None:
        """Let a Run wait for a time, in ticks."""
        self.enter(entry, Stage.BACKOFF)
        token = entry.token
        self._timers.at(until, lambda: entry.token == token, lambda: self.requeue(entry, WakeupSource.TIMER))

    def back_off(self, entry: RunEntry, at_least: float | None = None) -> int:
        """Let a Run wait longer after each failure. Returns until when, in ticks.

        at_least: seconds that the API server asked for (see `RunBackoff.until`).
        """
        until = self.backoff.after_failure(entry, at_least)
        self.delay(entry, until)
        return until

    def retry_class_at(self, waiting: EquivalenceClass, moment: datetime) -> None:
        """Wake a class when a rejection may turn by itself (`Reject.retry_at`)."""
        now = self._clock.now.ticks
        at = max(self._clock.tick_of(moment), now + SMALLEST_PAUSE)
        if waiting.arm(at, now):
            self._timers.at(
                at,
                # While its only Run is being scheduled the class is empty, and the timer is as due as before.
                lambda: waiting.retry_at == at and (waiting.size > 0 or waiting.in_cycle),
                lambda: self.unschedulable.wake(waiting, WakeupSource.TIMER),
            )


def _keyed_for(entry: RunEntry) -> tuple[object, ...]:
    return (entry.run.attempt, entry.run.labels)
