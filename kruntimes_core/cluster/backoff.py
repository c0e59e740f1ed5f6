"""How long to wait after a failure: longer each time, never in step with others, never for ever."""

from __future__ import annotations

from random import Random

LONGEST_RETRY_AFTER_SECONDS = 30.0
"""What a server may ask for at most: a wrong header must not put the host to sleep."""


class RetryBackoff:
    """Exponential backoff with jitter. The longest pause is short, so that work goes on soon after it can."""

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
        """Seconds to wait now. retry_after: what the server asked for, in seconds."""
        planned = min(self._first * (1 << min(self._failures, 30)), self._longest)
        self._failures += 1
        pause = planned * (0.5 + self._random.random() / 2)
        if retry_after is None:
            return pause
        return max(pause, min(retry_after, LONGEST_RETRY_AFTER_SECONDS))

    def reset(self) -> None:
        """It works again."""
        self._failures = 0
