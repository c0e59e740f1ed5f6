"""How many Events may be sent: a token bucket that is one number."""

from __future__ import annotations

from kruntimes_core.engine.clock import SECOND

_BURST_SECONDS = 5


class Bucket:
    """Holds five seconds' worth of tokens, but one at least, and is full at the beginning."""

    def __init__(self, per_second: float) -> None:
        """per_second: above 0."""
        self._interval = max(round(SECOND / per_second), 1)
        self._depth = max(_BURST_SECONDS * SECOND, self._interval)
        self._full_at = 0

    def free_at(self, now: int) -> int:
        """When there is a token, in ticks; not before `now`."""
        return max(self._full_at + self._interval - self._depth, now)

    def take(self, now: int) -> None:
        """Take a token; call it when there is one."""
        self._full_at = max(self._full_at, now) + self._interval
