"""How long a Runtime Pod may be trusted: judged once by the wall clock, then by the monotonic one.

A probe time is judged when that value is first seen for a Pod UID, not again at a relist or an
edit: or a dead Pod with a fast clock would buy itself a new term each time.
"""

from __future__ import annotations

from collections import OrderedDict
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


class LastHeard:
    """The heartbeats of Pods that are not known any more, by (namespace, Pod UID).

    A Pod that only lost its label for a while, or changed its Runtime, is the same Pod when it comes
    back, and an old probe time of it buys no new trust. Deleted Pods never come back, so only the
    latest ones are kept.
    """

    def __init__(self, kept: int = 1024) -> None:
        self._kept = kept
        self._heard: OrderedDict[tuple[str, str], Heartbeat] = OrderedDict()

    def keep(self, pod: tuple[str, str], heartbeat: Heartbeat) -> None:
        """Remember the last heartbeat of a Pod that goes."""
        self._heard[pod] = heartbeat
        if len(self._heard) > self._kept:
            self._heard.popitem(last=False)

    def take(self, pod: tuple[str, str]) -> Heartbeat | None:
        """The last heartbeat of a Pod that comes back."""
        return self._heard.pop(pod, None)
