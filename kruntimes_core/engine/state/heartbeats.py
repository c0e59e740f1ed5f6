"""How long a Runtime Pod may be trusted: judged once by the wall clock, then by the monotonic one.

A probe time is judged when that value is first seen for a Pod UID, not again at a relist or an
edit: or a dead Pod with a fast clock would buy itself a new term each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.engine.instant import Now, ticks


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One probe time of one Pod, and the last moment at which it counts as fresh."""

    probed_at: datetime | None
    fresh_until: int
    """In ticks; a heartbeat of exactly the limit's age is still fresh."""

    def stale(self, now: Now) -> bool:
        """Whether its time has run out."""
        return now.ticks > self.fresh_until


def heard(before: Heartbeat | None, probed_at: datetime | None, now: Now, limit: int) -> Heartbeat:
    """The heartbeat after an observation; the same object when the probe time is the same."""
    if before is not None and before.probed_at == probed_at:
        return before
    if probed_at is None:
        # Nothing to wait for: what the Pod object itself says already makes it unavailable.
        return Heartbeat(None, now.ticks + limit)
    age = max(0.0, (now.wall - probed_at).total_seconds())
    return Heartbeat(probed_at, now.ticks + limit - ticks(age))
