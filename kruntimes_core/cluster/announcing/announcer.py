"""Says what is due, one Event at a time, on a way of its own: nothing waits for it, and it for little."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random

from kruntimes_core.cluster.announcing.bucket import Bucket
from kruntimes_core.cluster.announcing.hearing import Hearing
from kruntimes_core.cluster.announcing.lanes import Due, Lane, Lanes
from kruntimes_core.cluster.announcing.lasting import Lasting
from kruntimes_core.cluster.announcing.reasons import EventOutcome, Reason
from kruntimes_core.cluster.announcing.sender import EventSender, Sent
from kruntimes_core.cluster.announcing.settings import EventSink
from kruntimes_core.cluster.announcing.telling import Teller
from kruntimes_core.cluster.backoff import RetryBackoff
from kruntimes_core.cluster.client.errors import ApiFailure
from kruntimes_core.cluster.clock import Clock, TimeSlices
from kruntimes_core.cluster.observing.checks import Check
from kruntimes_core.cluster.observing.log import Log
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.engine.engine import Engine

_LONGEST_REST = SECOND
"""Timers of the loop stand still while the machine is suspended, and nobody tells of what may last."""
_QUIET = 60 * SECOND
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 60.0


class Announcer:
    """Sends what `hears` was told of, while the host decides, at a bounded pace."""

    def __init__(
        self,
        *,
        sink: EventSink,
        engine: Engine,
        clock: Clock,
        random: Random,
        log: Log,
        may_speak: Callable[[], bool],
        timeout_seconds: float,
    ) -> None:
        """may_speak: whether this host decides at this very moment. timeout_seconds: for each request."""
        settings = sink.settings
        self._clock = clock
        self._log = log
        self._may_speak = may_speak
        self._settings = settings
        self._lasting = Lasting(settings.after)
        self._lanes = Lanes(self._lasting, Teller(engine, settings.after).lasting)
        self._bucket = Bucket(settings.per_second)
        self._pauses = RetryBackoff(random, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._stirred = asyncio.Event()
        self._silent_until = 0
        self._quiet_until = 0
        self._problem: ApiFailure | None = None
        self._slices = TimeSlices(clock)
        self._sender = EventSender(
            transport=sink.transport,
            clock=clock,
            instance=sink.instance,
            gate=may_speak,
            seconds=timeout_seconds,
        )
        self.counts: Counter[tuple[str, str]] = Counter()
        """(reason, outcome)."""
        self.hears = Hearing(
            lasting=self._lasting,
            lanes=self._lanes,
            clock=clock,
            may_speak=may_speak,
            stir=self._stirred.set,
            dropped=self._dropped,
            placements=settings.placements,
        )

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each lane."""
        return self._lanes.lengths

    def checks(self) -> list[Check]:
        """What a probe may know: a host whose Events are refused is as ready as any."""
        return [Check("events", note=str(self._problem) if self._problem is not None else "")]

    async def run(self) -> None:
        """Go on until cancelled."""
        while True:
            if (rest := self._rest()) > 0:
                await self._wait(min(rest, _LONGEST_REST) / SECOND)
                continue
            due = self._next()
            if due is None:
                await asyncio.sleep(0)
            else:
                await self._say(due)

    # Inside

    async def _wait(self, seconds: float) -> None:
        """Rest for so long, or until something is to be said at once."""
        timer = asyncio.get_running_loop().call_later(seconds, self._stirred.set)
        await self._stirred.wait()
        timer.cancel()
        self._stirred.clear()

    def _rest(self) -> int:
        """For how long there is nothing to do, in ticks."""
        if not self._may_speak():
            for due in self._lanes.clear():
                self._dropped(due.announcement.reason)
            return _LONGEST_REST
        now = self._clock.now().ticks
        due_at = self._lanes.next_at(now)
        if due_at is None:
            return _LONGEST_REST
        return max(due_at, self._silent_until, self._bucket.free_at(now)) - now

    def _next(self) -> Due | None:
        """The next thing to say; None if a slice of time has found none yet."""
        self._slices.restart()
        while not self._slices.over:
            now = self._clock.now()
            due = self._lanes.next(now)
            if due is not None:
                return due
            due_at = self._lanes.next_at(now.ticks)
            if due_at is None or due_at > now.ticks:
                return None
        return None

    async def _say(self, due: Due) -> None:
        self._bucket.take(self._clock.now().ticks)
        sent = await self._sender.send(due.announcement)
        reason, outcome = due.announcement.reason, sent.outcome
        if outcome is EventOutcome.FAILED and not self._may_speak():
            outcome = EventOutcome.DROPPED
        self.counts[reason.value, outcome.value] += 1
        self._note(sent)
        self._go_on(due, outcome)

    def _note(self, sent: Sent) -> None:
        """Pause after a failure, longer each time."""
        failure, before = sent.failure, self._problem
        self._problem = failure
        now = self._clock.now().ticks
        if failure is not None:
            self._silent_until = now + ticks(self._pauses.next(failure.retry_after))
            if before is None or before.kind is not failure.kind:
                self._warn(failure, now)
            return
        self._pauses.reset()
        if before is not None:
            self._log.debug("events can be written again")

    def _warn(self, failure: ApiFailure, now: int) -> None:
        """Say so, but not each time when some are refused and others are not."""
        if now >= self._quiet_until:
            self._quiet_until = now + _QUIET
            self._log.warning(str(failure))

    def _go_on(self, due: Due, outcome: EventOutcome) -> None:
        now = self._clock.now().ticks
        if due.spell is not None and outcome in (EventOutcome.CREATED, EventOutcome.UPDATED):
            self._lasting.again(due.spell, now + self._settings.repeat)
        elif due.spell is not None:
            self._lasting.later(due.spell, now)
        elif outcome is EventOutcome.FAILED and not self._lanes.retry(due):
            self._dropped(due.announcement.reason)

    def _dropped(self, reason: Reason) -> None:
        self.counts[reason.value, EventOutcome.DROPPED.value] += 1
