"""What the parts of the engine share: the tables, the time of the step under way, a few words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kruntimes_core.engine.binding.outbox import Outbox
from kruntimes_core.engine.binding.reservations import Reservations
from kruntimes_core.engine.instant import SECOND, Now, ticks
from kruntimes_core.engine.queueing.needs import Needs, needs_of
from kruntimes_core.engine.queueing.order import by_arrival
from kruntimes_core.engine.queueing.queue import Queue
from kruntimes_core.engine.queueing.timers import Timers
from kruntimes_core.engine.queueing.waiting import Waiting
from kruntimes_core.engine.record.journal import Journal
from kruntimes_core.engine.runs import RunEntry, Runs, Stage
from kruntimes_core.engine.settings import Settings
from kruntimes_core.engine.state import State
from kruntimes_core.engine.tally import Tally, WakeSource
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.model.run import Run

_MAX_RETRY_DELAY_SECONDS = 60.0
# As many bring a nanosecond, the shortest backoff, past the longest delay; an attempt has no bound.
_MAX_DOUBLINGS = 36


class Core:
    """The engine's tables. Every step sets `now` first."""

    def __init__(self, profiles: Profiles, settings: Settings, now: Now) -> None:
        self.profiles = profiles
        self.settings = settings
        self.now = now
        self.leading = False
        self.tally = Tally()
        self.journal = Journal()
        self.runs = Runs()
        self.timers = Timers()
        self.queue = Queue()
        self.waiting = Waiting(self.queue, self.tally)
        self.state = State(self.waiting, settings.heartbeat_staleness)
        self.reservations = Reservations(self.state)
        self.outbox = Outbox()
        self.to_key: dict[RunEntry, None] = {}
        """Runs that wait for their queue key, in order of arrival."""
        self._arrivals = 0
        self._needs: dict[str, Needs] = {}

    # Profiles

    def profile(self, run: Run) -> Profile:
        """The profile that places a Run."""
        return self.profiles.of(run.runtime)

    def needs(self, profile: Profile) -> Needs:
        """What the profile's answers are given from."""
        if profile.name not in self._needs:
            self._needs[profile.name] = needs_of(profile)
        return self._needs[profile.name]

    def use(self, profiles: Profiles) -> None:
        """Decide by these profiles from now on."""
        self.profiles = profiles
        self._needs.clear()

    @property
    def queue_plugin(self) -> ActivePlugin | None:
        """The plugin that orders the queue, if there is one."""
        return self.profiles.queue_plugin

    # The ways of a Run

    def arrive(self, entry: RunEntry) -> None:
        """A Run is Pending for the first time, or again: it queues behind those before it."""
        self._arrivals += 1
        entry.arrival = self._arrivals
        entry.since = self.now.ticks
        entry.order = by_arrival(entry.arrival)
        entry.keyed_for = None
        self.enqueue(entry, None)

    def enqueue(self, entry: RunEntry, source: WakeSource | None) -> None:
        """Queue a Run, by way of the plugin that gives keys if it has none for what it is now."""
        if self.queue_plugin is None or not self.eligible(entry) or entry.keyed_for == _keyed_for(entry):
            self.waiting.requeue(entry, source)
        elif entry.stage is not Stage.KEYING:
            self.waiting.withdraw(entry)
            entry.leave()
            entry.stage = Stage.KEYING
            self.to_key[entry] = None

    def keyed(self, entry: RunEntry) -> None:
        """Note that the Run has a queue key for what it is now."""
        entry.keyed_for = _keyed_for(entry)

    def eligible(self, entry: RunEntry) -> bool:
        """Whether a Run is to be placed now: not cancelled, invalid, or in its retry delay."""
        seen = entry.observation
        barred = seen.cancel_requested or seen.deleting or seen.invalid is not None
        return not barred and self.retry_due(entry) <= self.now.ticks

    def delay(self, entry: RunEntry, until: int) -> None:
        """Let a Run wait for a time, in ticks."""
        self.waiting.withdraw(entry)
        entry.leave()
        entry.stage = Stage.DELAYED
        token = entry.token
        self.timers.at(
            until,
            lambda: entry.token == token,
            lambda: self.enqueue(entry, WakeSource.TIMER),
        )

    def back_off(self, entry: RunEntry, at_least: float | None = None) -> int:
        """Let a Run wait longer after each failure. Returns until when, in ticks.

        at_least: seconds that the API server asked for; no more than the longest backoff counts.
        """
        until = self.after_failure(entry, at_least)
        self.delay(entry, until)
        return until

    def after_failure(self, entry: RunEntry, at_least: float | None = None) -> int:
        """Count a failure of a Run. Returns when to try again, in ticks; at_least: see `back_off`."""
        entry.failures += 1
        pause = self.settings.backoff(entry.failures)
        if at_least is not None and at_least > 0:
            pause = max(pause, min(ticks(at_least), self.settings.backoff_max))
        return self.now.ticks + pause

    def read_later(self, entry: RunEntry, at_least: float | None = None) -> None:
        """Count a failure, and read the Run after a while, if it is still known; at_least: see `back_off`."""
        self.timers.at(
            self.after_failure(entry, at_least),
            lambda: self.runs.get(entry.key) is entry,
            lambda: self.outbox.read(entry),
        )

    def release(self, entry: RunEntry) -> None:
        """End a reservation that came to no bind: what waits for room hears why there is some."""
        self.waiting.source = WakeSource.RESERVATION_RELEASED
        self.reservations.end(entry, bound=False)

    def retry_due(self, entry: RunEntry) -> int:
        """When the retry delay of a re-queued Run ends, in ticks (API contract, Retry delay).

        Reckoned once, when this attempt is first seen; never longer than the delay from then,
        whatever clock wrote the time.
        """
        seen = entry.observation
        if seen.run.attempt <= 1 or seen.stopped_at is None:
            return 0
        about = (seen.run.attempt, seen.stopped_at)
        if entry.delay_for != about:
            doublings = min(seen.run.attempt - 2, _MAX_DOUBLINGS)
            delay = min(seen.backoff_seconds * 2**doublings, _MAX_RETRY_DELAY_SECONDS)
            left = (seen.stopped_at - self.now.wall).total_seconds() + delay
            entry.delay_for = about
            entry.delay_until = self.now.ticks + ticks(max(0.0, min(left, delay)))
        return entry.delay_until

    def wall(self, at: int) -> datetime:
        """The wall clock's time at a later tick, or the last that can be written (see `plan --now`)."""
        try:
            return self.now.wall + timedelta(seconds=(at - self.now.ticks) / SECOND)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)

    def tick_of(self, moment: datetime) -> int:
        """The first tick at which the wall clock is past `moment`, as far as is known now."""
        return self.now.ticks + max(ticks((moment - self.now.wall).total_seconds()), 0)


def _keyed_for(entry: RunEntry) -> tuple[object, ...]:
    return (entry.run.attempt, entry.run.labels)
