"""Runtime Pods: what they advertise, what they hold, and whether they can take Runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.run import Request
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets

RUNTIME_LABEL = "runtime"
"""The label of a Pod that names its Runtime, and so makes it a Runtime Pod."""


class Capacity(FrozenMap[str, int | Fraction]):
    """What a Pod advertises: resource name to an exact positive amount (an int when whole)."""

    __slots__ = ()


class Unavailability(StrEnum):
    """Why a Runtime Pod cannot take Runs now."""

    TERMINATING = "PodTerminating"
    NOT_RUNNING = "PodNotRunning"
    NOT_READY = "PodNotReady"
    RUNTIMED_NOT_READY = "RuntimedNotReady"
    HEARTBEAT_STALE = "HeartbeatStale"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimePod:
    """One warm Runtime Pod with what it holds. `usage` and `targets` include assumed Runs."""

    namespace: str
    name: str
    uid: str
    runtime: str
    node: str | None = None
    labels: LabelSet = field(default_factory=LabelSet)
    annotations: FrozenMap[str, str] = field(default_factory=FrozenMap)
    capacity: Capacity = field(default_factory=lambda: Capacity({"runs": 2}))
    usage: FrozenMap[str, int] = field(default_factory=FrozenMap)
    targets: Targets = field(default_factory=Targets)
    unavailable: Unavailability | None = None
    """Why the Pod is not available, or None."""

    @property
    def available(self) -> bool:
        """Running, ready, with a fresh heartbeat, and not being deleted."""
        return self.unavailable is None

    def fits(self, request: Request) -> bool:
        """Whether usage + request <= capacity for every requested resource (exact)."""
        return _lacking(self, request) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodObservation:
    """One version of a Pod object: the Pod without usage, and its heartbeat beside it.

    `pod.unavailable` is what the object itself says. The engine, which is given the time, judges the
    age of the heartbeat, so a refreshed `probed_at` makes no new Pod value.
    """

    pod: RuntimePod
    version: str = ""
    probed_at: datetime | None = None
    """lastProbeTime of the condition `kruntimes.io/RuntimedReady`; None makes the Pod unavailable."""


def shortage(pod: RuntimePod, request: Request) -> str | None:
    """What `pod` lacks for `request`, with figures, for a record; None when there is room.

    It names the first resource of the request that lacks room.
    """
    resource = _lacking(pod, request)
    if resource is None:
        return None
    limit = pod.capacity.get(resource)
    if limit is None:
        return f"{resource} is not advertised"
    return f"{resource}: {pod.usage.get(resource, 0)} in use + {request[resource]} requested > {limit}"


def _lacking(pod: RuntimePod, request: Request) -> str | None:
    capacity, usage = pod.capacity, pod.usage
    for resource, amount in request.items():
        limit = capacity.get(resource)
        if limit is None or usage.get(resource, 0) + amount > limit:
            return resource
    return None
