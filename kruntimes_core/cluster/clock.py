"""The host's two clocks, handed to each part so that tests own the time; time slices; retry backoff."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from random import Random
from typing import Protocol

from kruntimes_core.engine.clock import Now

# This clock goes on while the machine is suspended, as the clocks of all other machines do: what was trusted
# before a suspend must not be trusted after it. A machine without it has the monotonic clock.
_ONWARD = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

SLICE_TICKS = 5_000
"""5 ms (semantics: slices of a sweep, and of everything else that takes long)."""


class Clock(Protocol):
    """Tells the time by both clocks."""

    def now(self) -> Now:
        """Both clocks at this moment."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> Now:
        """Wall clock in UTC, and ticks since boot."""
        return Now(datetime.now(UTC), time.clock_gettime_ns(_ONWARD) // 1_000)


class TimeSlices:
    """Splits long work into short slices, so that watches, probes and renewals go on meanwhile."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.now().ticks

    def restart(self, now: int | None = None) -> None:
        """Begin a slice now. now: this moment in ticks, if it is known."""
        self._began = self._clock.now().ticks if now is None else now

    @property
    def over(self) -> bool:
        """Whether others should have a turn."""
        return self._clock.now().ticks - self._began >= SLICE_TICKS

    async def give_way(self) -> None:
        """Let others have a turn if the slice is over."""
        if self.over:
            await asyncio.sleep(0)
            self.restart()


LONGEST_RETRY_AFTER_SECONDS = 30.0
"""The longest pause that a server can demand: a wrong header must not stop the host."""


class RetryBackoff:
    """Exponential backoff with jitter. Pauses stay short, so that work soon goes on after an outage."""

    def __init__(self, random: Random, first: float = 0.25, longest: float = 4.0) -> None:
        """first, longest: seconds, before jitter takes up to half of them."""
        self._random = random
        self._first = first
        self._longest = longest
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many pauses there were since the last success."""
        return self._failures

    def next(self, retry_after: float | None = None) -> float:
        """Seconds to wait now. retry_after: what the server demands, in seconds."""
        planned = min(self._first * (1 << min(self._failures, 30)), self._longest)
        self._failures += 1
        pause = planned * (0.5 + self._random.random() / 2)
        if retry_after is None:
            return pause
        return max(pause, min(retry_after, LONGEST_RETRY_AFTER_SECONDS))

    def reset(self) -> None:
        """Begin with the shortest pause again: what failed has worked."""
        self._failures = 0
