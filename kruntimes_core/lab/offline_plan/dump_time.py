"""The moment at which a dump was taken, as its objects tell it, and the states of its Runtime Pods then.

No object says when `kubectl get` ran. The newest heartbeat does, nearly, while at least one Runtime
Pod has one. In an outage of all heartbeats it does not: then another object is newer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.engine.cache.heartbeats import next_heartbeat
from kruntimes_core.engine.clock import SECOND, Now, ticks
from kruntimes_core.model.fields import members
from kruntimes_core.model.pod import PodObservation, Unavailability
from kruntimes_core.model.times import parse_time


@dataclass(frozen=True, slots=True)
class NewestObject:
    """The object that was created, or that changed a condition, last."""

    title: str
    """Kind, namespace and name."""
    at: datetime


class ObjectTimes:
    """Collects the times that objects bear: creationTimestamp, and lastTransitionTime of conditions."""

    def __init__(self) -> None:
        # By its text: many objects share a time, and to parse one costs more than to look it up.
        self._titles: dict[str, str] = {}

    def note(self, content: Mapping[str, object]) -> None:
        """Note the times of one object, of whatever kind. What is no text is left out."""
        for text in _times(content):
            if text not in self._titles:
                self._titles[text] = _title(content)

    @property
    def newest(self) -> NewestObject | None:
        """The object with the latest time that can be read; None if no object has one."""
        dated = ((parse_time(text), title) for text, title in self._titles.items())
        found = [NewestObject(title, at) for at, title in dated if at is not None]
        return max(found, key=lambda newest: newest.at, default=None)


def _times(content: Mapping[str, object]) -> Iterable[str]:
    conditions = members(content.get("status")).get("conditions")
    found = [members(content.get("metadata")).get("creationTimestamp")]
    if isinstance(conditions, list):
        found += [members(entry).get("lastTransitionTime") for entry in conditions]
    return [value for value in found if isinstance(value, str)]


def _title(content: Mapping[str, object]) -> str:
    metadata = members(content.get("metadata"))
    name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
    return f"{content.get('kind')} {name}"


@dataclass(frozen=True, slots=True)
class DumpTime:
    """What the objects of a dump tell about the moment at which it was taken."""

    heartbeat: datetime | None = None
    """The newest lastProbeTime of a Runtime Pod."""
    newest: NewestObject | None = None

    def outlived_by(self, limit: int) -> NewestObject | None:
        """The newest object, if all heartbeats had ended before it. limit: of a fresh one's age, in ticks."""
        newest, heartbeat = self.newest, self.heartbeat
        if newest is None or heartbeat is None:
            return None
        return newest if ticks((newest.at - heartbeat).total_seconds()) > limit else None

    def at(self, limit: int) -> datetime | None:
        """The time to judge heartbeats and delays at; None when no object tells one. limit: in ticks."""
        if self.heartbeat is not None and self.outlived_by(limit) is None:
            return self.heartbeat
        return self.newest.at if self.newest is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStates:
    """The Runtime Pods of a plan by what keeps Runs from them at its time; None: nothing does."""

    counts: Counter[Unavailability | None]
    at: datetime
    limit_seconds: float
    """The age up to which a heartbeat is fresh."""

    @property
    def stale(self) -> int:
        """How many Pods only lack a fresh heartbeat."""
        return self.counts[Unavailability.HEARTBEAT_STALE]

    @property
    def ready(self) -> int:
        """How many are ready by what their objects say, the stale ones included."""
        return self.counts[None] + self.stale

    @property
    def outage(self) -> bool:
        """Whether Pods are ready, and none of them has a fresh heartbeat."""
        return self.stale > 0 and self.stale == self.ready


def pod_states(pods: Iterable[PodObservation], now: Now, limit: int) -> PodStates:
    """Judge each Pod and its heartbeat as the engine does. limit: in ticks."""
    counts = Counter(_state(seen, now, limit) for seen in pods)
    return PodStates(counts=counts, at=now.wall, limit_seconds=limit / SECOND)


def _state(seen: PodObservation, now: Now, limit: int) -> Unavailability | None:
    if seen.pod.available and next_heartbeat(None, seen.probed_at, now, limit).stale(now):
        return Unavailability.HEARTBEAT_STALE
    return seen.pod.unavailable
