"""Heartbeats of Runtime Pods: for how long a Pod is trusted after its last probe (semantics, Heartbeat)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.engine.clock import Now, ticks


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One probe time of one Pod, and the last moment at which it counts as fresh."""

    probed_at: datetime | None
    fresh_until: int
    """In ticks; a heartbeat of exactly the limit's age is still fresh."""

    def stale(self, now: Now) -> bool:
        """Whether its time has run out."""
        return now.ticks > self.fresh_until


def next_heartbeat(before: Heartbeat | None, probed_at: datetime | None, now: Now, limit: int) -> Heartbeat:
    """The heartbeat after an observation; the same object when the probe time is the same.

    A probe time is judged by the wall clock when that value is first seen for a Pod UID, then by the
    monotonic clock. Judged again at each relist or edit, a dead Pod with a fast clock would be
    trusted anew each time (semantics, Heartbeat). limit: in ticks.
    """
    if before is not None and before.probed_at == probed_at:
        return before
    if probed_at is None:
        # Nothing to wait for: what the Pod object itself says already makes it unavailable.
        return Heartbeat(None, now.ticks + limit)
    age = max(0.0, (now.wall - probed_at).total_seconds())
    return Heartbeat(probed_at, now.ticks + limit - ticks(age))


class LastHeartbeats:
    """The heartbeats of Pods that are not known any more, by (namespace, Pod UID).

    A Pod that only lost its label for a while, or changed its Runtime, is the same Pod when it comes
    back, and an old probe time does not make it fresh again. Deleted Pods never come back, so only the
    latest ones are kept.
    """

    def __init__(self, kept: int = 1024) -> None:
        self._kept = kept
        self._heartbeats: OrderedDict[tuple[str, str], Heartbeat] = OrderedDict()

    def keep(self, pod: tuple[str, str], heartbeat: Heartbeat) -> None:
        """Remember the last heartbeat of a Pod that goes."""
        self._heartbeats[pod] = heartbeat
        if len(self._heartbeats) > self._kept:
            self._heartbeats.popitem(last=False)

    def take(self, pod: tuple[str, str]) -> Heartbeat | None:
        """The last heartbeat of a Pod that comes back."""
        return self._heartbeats.pop(pod, None)
