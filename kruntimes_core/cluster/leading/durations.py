"""How long a Lease holds, how long its holder trusts it, and what follows for every write."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from kruntimes_core.engine.clock import ticks
from kruntimes_core.model.messages import InputError

JITTER = 1.2
"""Go electors stretch the retry period by at most so much, and hold the deadline to it."""
_LONGEST_WRITE_SECONDS = 4.0
_MARGIN_SECONDS = 1.0
_SHORTEST_WRITE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """The three durations of an election, in seconds; the defaults are those of Go electors."""

    lease: float = 15.0
    """How long others wait after a record stands still."""
    deadline: float = 10.0
    """How long its holder writes after it sent the last renewal that was applied."""
    retry: float = 2.0
    """How often it renews."""

    def check(self) -> None:
        """Raises `InputError` for durations with which two could lead, or nobody for long."""
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
