"""Whether something still comes of lists and watches, and for how long it has not."""

from __future__ import annotations

import asyncio

_BEHIND_SECONDS = 10.0
"""For how long a server may be behind. One that was restored to an older state has another history: what
was seen of the former one stays wrong, also when its versions have caught up."""


class Pulse:
    """Told of what happens to one feed. Seconds of the loop's time, which stands still with its timers."""

    def __init__(self) -> None:
        self._tried_at: float | None = None
        self._worked_at: float | None = None
        self._outdated_at: float | None = None

    def worked(self) -> None:
        """The server answered as it should."""
        self._tried_at = self._worked_at = asyncio.get_running_loop().time()

    def failed(self, *, outdated: bool) -> None:
        """A list or watch failed. outdated: because the server answered from the past."""
        self._tried_at = asyncio.get_running_loop().time()
        if outdated and self._outdated_at is None:
            self._outdated_at = self._tried_at

    def caught_up(self) -> None:
        """The server answered from the present."""
        if self.outdated_seconds < _BEHIND_SECONDS:
            self._outdated_at = None

    @property
    def tried_seconds(self) -> float:
        """Since anything came of what is done, a failure included; what is done has time limits."""
        return _since(self._tried_at)

    @property
    def worked_seconds(self) -> float:
        """Since the server last answered as it should."""
        return _since(self._worked_at)

    @property
    def outdated_seconds(self) -> float:
        """Since the server answered from the past; 0 if it does not, or soon did not any more."""
        return _since(self._outdated_at)


def _since(moment: float | None) -> float:
    """0 before the beginning."""
    return asyncio.get_running_loop().time() - moment if moment is not None else 0.0
