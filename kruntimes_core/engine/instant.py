"""A reading of the host's two clocks, the only time that the engine knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# Ticks in a second: the monotonic clock is read in microseconds, so that deadlines are exact.
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Now:
    """One moment. `wall` (aware, UTC) is what others write; `ticks` only ever goes forward."""

    wall: datetime
    ticks: int


def ticks(seconds: float) -> int:
    """A duration in ticks of the monotonic clock."""
    return round(seconds * SECOND)
