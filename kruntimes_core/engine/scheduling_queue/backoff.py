"""Backoff: when a Run is tried again after a failure, and when the retry delay of its attempt ends."""

from __future__ import annotations

from kruntimes_core.engine.clock import EngineClock, ticks
from kruntimes_core.engine.runs import RunEntry

_MAX_RETRY_DELAY_SECONDS = 60.0
# As many bring a nanosecond, the shortest backoff, past the longest delay; an attempt has no bound.
_MAX_DOUBLINGS = 36


class RunBackoff:
    """Computes times; the queue keeps the Runs until then."""

    def __init__(self, clock: EngineClock, initial: int, longest: int) -> None:
        """initial, longest: in ticks."""
        self._clock = clock
        self._initial = initial
        self._longest = longest

    def until(self, failures: int, at_least: float | None = None) -> int:
        """When to try again after this number of failures in a row, in ticks: the backoff doubles.

        at_least: seconds that the API server asked for; no more than the longest backoff counts.
        """
        pause = min(self._initial << min(max(failures, 1) - 1, 30), self._longest)
        if at_least is not None and at_least > 0:
            pause = max(pause, min(ticks(at_least), self._longest))
        return self._clock.now.ticks + pause

    def after_failure(self, entry: RunEntry, at_least: float | None = None) -> int:
        """Count a failure of a Run. Returns when to try again, in ticks; at_least: see `until`."""
        return self.until(entry.fail(), at_least)

    def retry_due(self, entry: RunEntry) -> int:
        """When the retry delay of a re-queued Run ends, in ticks (API contract, Retry delay).

        Computed once, when this attempt is first seen; never longer than the delay from then,
        whatever clock wrote the time.
        """
        seen, now = entry.observation, self._clock.now
        if seen.run.attempt <= 1 or seen.stopped_at is None:
            return 0
        of = (seen.run.attempt, seen.stopped_at)
        if entry.retry_delay_of != of:
            doublings = min(seen.run.attempt - 2, _MAX_DOUBLINGS)
            delay = min(seen.backoff_seconds * 2**doublings, _MAX_RETRY_DELAY_SECONDS)
            left = (seen.stopped_at - now.wall).total_seconds() + delay
            entry.set_retry_delay(of, now.ticks + ticks(max(0.0, min(left, delay))))
        return entry.retry_delay_until
