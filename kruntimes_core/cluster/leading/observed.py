"""Whether a Lease may be taken, judged by one's own clock alone.

The clocks of two machines are never compared: a record counts as alive until it was seen to stand
still for its duration, whatever times it bears, or lacks.
"""

from __future__ import annotations

from kruntimes_core.cluster.leading.record import Lease
from kruntimes_core.engine.clock import ticks


class Observed:
    """The record as it was seen last, and since when it stands still."""

    def __init__(self, default_ticks: int, absent_ticks: int) -> None:
        """default_ticks: the duration of a record that names none. absent_ticks: for how long a Lease
        that was never seen must be missing: a leader whose Lease was deleted notices when it renews.
        """
        self._default = default_ticks
        self._absent = absent_ticks
        self._absent_since: int | None = None
        self._last: Lease | None = None
        self._since = 0

    def see(self, lease: Lease | None, now: int) -> None:
        """Take note of a Lease as it was read or written. now: in ticks, after the answer.

        A Lease that is gone changes nothing: who held it may still lead until he looks.
        """
        if lease is None:
            self._absent_since = now if self._absent_since is None else self._absent_since
            return
        self._absent_since = None
        if self._last is None or lease.key != self._last.key:
            self._since = now
        self._last = lease

    def free(self, identity: str, now: int) -> bool:
        """Whether `identity` may take it: nobody holds it, itself does, or it stood still long enough."""
        last = self._last
        if last is None:
            return self._absent_since is not None and now - self._absent_since >= self._absent
        if last.holder in ("", identity):
            return True
        duration = self._default if last.seconds is None else ticks(last.seconds)
        return now - self._since >= duration

    @property
    def holder(self) -> str:
        """Who was seen to hold it; empty for nobody."""
        return self._last.holder if self._last is not None else ""

    @property
    def acquired(self) -> str | None:
        """Since when, by the holder's own word."""
        return self._last.acquired if self._last is not None else None
