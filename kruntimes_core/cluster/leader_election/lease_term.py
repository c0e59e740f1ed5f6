"""The time for which a Lease entitles its holder to write, and the durations that this follows from."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.model.messages import InputError

JITTER = 1.2
"""Go electors stretch the retry period by at most so much, and hold the deadline to it."""
_LONGEST_WRITE_SECONDS = 4.0
_MARGIN_SECONDS = 1.0
_SHORTEST_WRITE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseDurations:
    """The three durations of an election, in seconds; the defaults are those of Go electors."""

    lease: float = 15.0
    """How long others wait after a record stands still."""
    deadline: float = 10.0
    """How long its holder writes after it sent the last renewal that was applied."""
    retry: float = 2.0
    """How often it renews."""

    def check(self) -> None:
        """Raises `InputError` for durations with which two could lead, or none for long."""
        if self.retry <= 0:
            raise InputError("--leader-elect-retry-period must be longer than 0")
        if self.deadline <= self.retry * JITTER:
            raise InputError(
                f"--leader-elect-renew-deadline {self.deadline:g}s is too short:"
                f" make it longer than {JITTER:g} times --leader-elect-retry-period ({self.retry:g}s)"
            )
        shortest = self.deadline + _MARGIN_SECONDS + _SHORTEST_WRITE_SECONDS
        if self.lease < shortest:
            raise InputError(
                f"--leader-elect-lease-duration {self.lease:g}s is too short: make it {shortest:g}s or"
                " longer, so that a write that began before --leader-elect-renew-deadline"
                f" ({self.deadline:g}s) ends before it"
            )

    @property
    def write_seconds(self) -> float:
        """The limit of each write: one begun just before the deadline ends well before the Lease."""
        return min(self.lease - self.deadline - _MARGIN_SECONDS, _LONGEST_WRITE_SECONDS)

    @property
    def request_seconds(self) -> float:
        """The limit of each request for the Lease: half the deadline, as in Go, so that two fit in."""
        return min(self.deadline / 2, self.write_seconds)

    @property
    def lease_ticks(self) -> int:
        """`lease` in ticks."""
        return ticks(self.lease)

    @property
    def absent_ticks(self) -> int:
        """How long a Lease must be missing before it is created: a renewal is due in that time."""
        return ticks(self.retry * JITTER + _MARGIN_SECONDS)

    @property
    def written_seconds(self) -> int:
        """`lease` as a record says it: whole seconds, never less than is meant."""
        return ceil(self.lease)


class LeaseTerm:
    """Ends by itself at the renew deadline, on a clock that goes on while the machine is suspended."""

    def __init__(self, *, clock: Clock, durations: LeaseDurations) -> None:
        self.durations = durations
        self._clock = clock
        self._until = 0

    def lasts(self) -> bool:
        """Whether a write may be handed to the socket at this very moment: a gate of `HttpTransport`."""
        return self._clock.now().ticks < self._until

    @property
    def left_seconds(self) -> float:
        """How long the term lasts from now; 0 when it has ended."""
        return max(self._until - self._clock.now().ticks, 0) / SECOND

    def renewed(self, sent: int) -> None:
        """A record was applied that was sent at this moment, in ticks. That never makes a term shorter."""
        self._until = max(self._until, sent + ticks(self.durations.deadline))

    def end(self) -> None:
        """End the term now."""
        self._until = 0
