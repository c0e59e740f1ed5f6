"""The Runtime Pods: as observed, with the age of their heartbeats, and with the allocations that they carry.

An allocation is what one Run holds: as observed when it is active, else as assumed. There is never
more than one for a Run, which is what makes the handoff from assumed to actual usage exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from kruntimes_core.engine.cache.heartbeats import Heartbeat, LastHeartbeats, next_heartbeat
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.metadata import newer_than_list, older
from kruntimes_core.model.pod import PodObservation, RuntimePod, Unavailability
from kruntimes_core.model.run import Request
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets

RunKey = tuple[str, str]
"""(namespace, Run UID)."""
Place = tuple[str, str, str]
"""(namespace, "uid" or "name", Pod UID or Pod name)."""
PodKey = tuple[str, str]
"""(namespace, name)."""
PodChanged = Callable[[str, str, str, RuntimePod | None, WakeupSource], None]
"""Called with namespace, Runtime, name, the new value (None: the Pod is gone), and what caused the change."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The room that one Run holds on one Pod, and the labels by which it is a target."""

    namespace: str
    pod_name: str
    pod_uid: str | None
    request: Request
    labels: LabelSet

    @property
    def place(self) -> Place:
        """Where it counts: by Pod UID; by name where the Run names no UID."""
        if self.pod_uid is not None:
            return (self.namespace, "uid", self.pod_uid)
        return (self.namespace, "name", self.pod_name)


@dataclass(slots=True)
class PodAllocations:
    """The sum of the allocations on one Pod."""

    usage: FrozenMap[str, int] = field(default_factory=FrozenMap)
    targets: Targets = field(default_factory=Targets)

    def changed_by(self, allocation: Allocation, sign: int) -> PodAllocations:
        """The sum with an allocation more (`sign` 1) or less (-1)."""
        usage = dict(self.usage.items())
        for resource, amount in allocation.request.items():
            total = usage.get(resource, 0) + sign * amount
            if total:
                usage[resource] = total
            else:
                usage.pop(resource, None)
        return PodAllocations(FrozenMap(usage), self.targets.changed_by(allocation.labels, sign))

    def __add__(self, other: PodAllocations) -> PodAllocations:
        usage = dict(self.usage.items())
        for resource, amount in other.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
        targets = self.targets
        for labels, number in other.targets.items():
            targets = targets.changed_by(labels, number)
        return PodAllocations(FrozenMap(usage), targets)


class Allocations:
    """All allocations, and their sum on each Pod."""

    def __init__(self) -> None:
        self._by_run: dict[RunKey, Allocation] = {}
        self._sums: dict[Place, PodAllocations] = {}
        self._none = PodAllocations()

    def replace(self, run: RunKey, allocation: Allocation | None) -> list[tuple[Allocation, int]]:
        """Set what a Run holds. Returns the changes: allocations with -1 (ended) and 1 (begun)."""
        before = self._by_run.get(run)
        if before == allocation:
            return []
        if allocation is None:
            self._by_run.pop(run, None)
        else:
            self._by_run[run] = allocation
        changes = [(it, sign) for it, sign in ((before, -1), (allocation, 1)) if it is not None]
        for changed, sign in changes:
            self._change(changed, sign)
        return changes

    def on_pod(self, namespace: str, name: str, uid: str) -> PodAllocations:
        """What the Pod of that name and UID carries."""
        by_uid = self._sums.get((namespace, "uid", uid), self._none)
        by_name = self._sums.get((namespace, "name", name))
        return by_uid if by_name is None else by_uid + by_name

    def __len__(self) -> int:
        return len(self._by_run)

    def _change(self, allocation: Allocation, sign: int) -> None:
        total = self._sums.get(allocation.place, self._none).changed_by(allocation, sign)
        if total.usage or total.targets:
            self._sums[allocation.place] = total
        else:
            self._sums.pop(allocation.place, None)


@dataclass(slots=True)
class _KnownPod:
    """A Pod as it was last observed, and the value that was made of it."""

    observation: PodObservation
    heartbeat: Heartbeat
    stale: bool
    value: RuntimePod


class PodCache:
    """All known Runtime Pods. A new value is made, and published, only when something changed."""

    def __init__(self, changed: PodChanged, allocations: Allocations, heartbeat_staleness: int) -> None:
        self._changed = changed
        self._allocations = allocations
        self._limit = heartbeat_staleness
        self._pods: dict[PodKey, _KnownPod] = {}
        self._names: dict[tuple[str, str], str] = {}  # (namespace, Pod UID) -> name
        self._last_heartbeats = LastHeartbeats()
        self._expiries: list[tuple[int, PodKey]] = []
        self._armed: dict[PodKey, int] = {}

    # Reading

    def get(self, namespace: str, name: str) -> RuntimePod | None:
        """A Pod as it is now, with what it carries."""
        known = self._pods.get((namespace, name))
        return known.value if known is not None else None

    def without_load(self, namespace: str, name: str) -> RuntimePod | None:
        """A Pod as it is now, without what it carries: what a bind that waits depends on."""
        known = self._pods.get((namespace, name))
        return _available(known.observation.pod, known.stale) if known is not None else None

    @property
    def next_expiry(self) -> int | None:
        """When a heartbeat may run out, in ticks: just past its last fresh moment."""
        return self._expiries[0][0] if self._expiries else None

    # Changing

    def observe(self, observation: PodObservation, now: Now) -> None:
        """A Pod was seen; an observation older than the last one is ignored."""
        pod = observation.pod
        key = (pod.namespace, pod.name)
        known = self._pods.get(key)
        if known is not None:
            if older(observation.version, known.observation.version):
                return
            before = known.observation.pod
            if before.uid != pod.uid or before.runtime != pod.runtime:
                self._forget(key)
                known = None
        last = known.heartbeat if known else self._last_heartbeats.take((pod.namespace, pod.uid))
        heartbeat = next_heartbeat(last, observation.probed_at, now, self._limit)
        stale = heartbeat.stale(now)
        if known is None:
            self._enter(key, _KnownPod(observation, heartbeat, stale, pod))
        else:
            known.observation, known.heartbeat, known.stale = observation, heartbeat, stale
            self._recompose(known, WakeupSource.RUNTIME_POD)
        self._arm(key)

    def gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A Pod was deleted; its successor of the same name is not touched by it."""
        known = self._pods.get((namespace, name))
        if known is None or (uid and known.observation.pod.uid != uid):
            return
        if not (version and older(version, known.observation.version)):
            self._forget((namespace, name))

    def listed(
        self, observations: Iterable[PodObservation], version: str, namespace: str | None, now: Now
    ) -> None:
        """A whole list of Pods was seen: those that are missing in it are gone."""
        present = set()
        for observation in observations:
            present.add((observation.pod.namespace, observation.pod.name))
            self.observe(observation, now)
        for key in [key for key in self._pods if namespace in (None, key[0]) and key not in present]:
            if not newer_than_list(self._pods[key].observation.version, version):
                self._forget(key)

    def allocation_changed(self, allocation: Allocation, cause: WakeupSource) -> None:
        """An allocation on a Pod began or ended: the Pod, if it is known, carries something else."""
        name: str | None = allocation.pod_name
        if allocation.pod_uid is not None:
            name = self._names.get((allocation.namespace, allocation.pod_uid))
        known = self._pods.get((allocation.namespace, name)) if name is not None else None
        if known is not None:
            self._publish(known, self._compose(known), cause)

    def expire(self, now: Now) -> None:
        """Take note of heartbeats that ran out by `now`: no event tells of them."""
        while self._expiries and self._expiries[0][0] <= now.ticks:
            at, key = heapq.heappop(self._expiries)
            if self._armed.get(key) != at:
                continue
            del self._armed[key]
            known = self._pods.get(key)
            if known is None or known.stale:
                continue
            if known.heartbeat.stale(now):
                known.stale = True
                self._recompose(known, WakeupSource.TIMER)
            else:
                self._arm(key)

    # Inside

    def _arm(self, key: PodKey) -> None:
        """One timer a Pod: a refreshed heartbeat is looked at when the old one would run out.

        An earlier end (a successor, a clock set back) takes the place of a later one.
        """
        known = self._pods[key]
        at = known.heartbeat.fresh_until + 1
        if not known.stale and at < self._armed.get(key, at + 1):
            self._armed[key] = at
            heapq.heappush(self._expiries, (at, key))

    def _compose(self, known: _KnownPod) -> RuntimePod:
        pod = _available(known.observation.pod, known.stale)
        return carrying(pod, self._allocations.on_pod(pod.namespace, pod.name, pod.uid))

    def _enter(self, key: PodKey, known: _KnownPod) -> None:
        pod = known.observation.pod
        self._names[pod.namespace, pod.uid] = pod.name
        self._pods[key] = known
        self._publish(known, self._compose(known), WakeupSource.RUNTIME_POD)

    def _recompose(self, known: _KnownPod, cause: WakeupSource) -> None:
        value = self._compose(known)
        if value != known.value:
            self._publish(known, value, cause)

    def _publish(self, known: _KnownPod, value: RuntimePod, cause: WakeupSource) -> None:
        known.value = value
        self._changed(value.namespace, value.runtime, value.name, value, cause)

    def _forget(self, key: PodKey) -> None:
        known = self._pods.pop(key)
        pod = known.observation.pod
        self._last_heartbeats.keep((pod.namespace, pod.uid), known.heartbeat)
        if self._names.get((pod.namespace, pod.uid)) == pod.name:
            del self._names[pod.namespace, pod.uid]
        self._changed(pod.namespace, pod.runtime, pod.name, None, WakeupSource.RUNTIME_POD)


def carrying(pod: RuntimePod, carried: PodAllocations) -> RuntimePod:
    """The Pod with these allocations. Written out, this takes a third of `replace`, at each placement."""
    return RuntimePod(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        runtime=pod.runtime,
        node=pod.node,
        labels=pod.labels,
        annotations=pod.annotations,
        capacity=pod.capacity,
        usage=carried.usage,
        targets=carried.targets,
        unavailable=pod.unavailable,
    )


def _available(pod: RuntimePod, stale: bool) -> RuntimePod:
    if stale and pod.unavailable is None:
        return replace(pod, unavailable=Unavailability.HEARTBEAT_STALE)
    return pod
