"""How many Runtime Pods of a plan are stale: what a Pod beside a dump of another time turns into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.engine.cache.heartbeats import next_heartbeat
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.model.pod import PodObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """Of the Pods that are ready by what their objects say: how many there are, and how many are stale."""

    ready: int
    stale: int
    at: datetime
    limit_seconds: float
    """The age up to which a heartbeat is fresh."""


def freshness(pods: Iterable[PodObservation], now: Now, limit: int) -> Freshness:
    """Judge each Pod's heartbeat as the engine does. limit: in ticks."""
    ready = [seen for seen in pods if seen.pod.available]
    stale = sum(next_heartbeat(None, seen.probed_at, now, limit).stale(now) for seen in ready)
    return Freshness(ready=len(ready), stale=stale, at=now.wall, limit_seconds=limit / SECOND)
