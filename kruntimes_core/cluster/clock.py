"""The host's two clocks. Whoever needs the time is given one, so that tests and simulators own it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from kruntimes_core.engine.clock import Now

# Goes on while the machine is suspended, as the clocks of everybody else do: what was trusted before
# a suspend must not be trusted after it. Where it is missing, the next best.
_ONWARD = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> Now:
        """Both clocks at this moment."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> Now:
        """Wall clock in UTC, and ticks since boot."""
        return Now(datetime.now(UTC), time.clock_gettime_ns(_ONWARD) // 1_000)
