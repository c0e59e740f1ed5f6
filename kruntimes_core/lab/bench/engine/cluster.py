"""The measured cluster: the Pods and Runs in it as an API server would send them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.engine.api_calls import Write
from kruntimes_core.engine.events import RunGone, RunObserved
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.objects import COHORT_LABEL, Object, alive, pod_object, run_object
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.times import format_time

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_BUSY_SLOTS = 4
"""Of one Pod: the Runs that run there beside those that are measured."""
_PLENTY = 1_000_000_000
"""More than all Runs ask for: only `runs` is ever full, so that every workload knows what has room."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A Runtime in a namespace."""

    namespace: str
    runtime: str


class BenchRun:
    """A Run as the API server has it. Each event is a newer version, decoded anew like the host's."""

    def __init__(self, pool: Pool, obj: Object, decoder: Decoder, next_version: Callable[[], str]) -> None:
        self.pool = pool
        self.name: str = obj["metadata"]["name"]
        self.pod: str | None = obj["status"].get("assignedPod")
        """The Pod that it was bound to."""
        self._object = obj
        self._decoder = decoder
        self._next_version = next_version

    def observation(self) -> RunObservation:
        """The Run as it is."""
        return self._decoder.run(self._object)

    def seen(self) -> RunObserved:
        """The event that shows the Run as it is."""
        return RunObserved(self.observation())

    def patched(self, write: Write, version: str) -> None:
        """A patch of its status was applied."""
        self._become({**self._object["status"], **write.body["status"]}, version)
        self.pod = self._object["status"].get("assignedPod")

    def ended(self) -> RunObserved:
        """The event of its success; it had been bound."""
        self._become(on_pod(self.pod or "", "Succeeded"), self._next_version())
        return self.seen()

    def gone(self) -> RunGone:
        """The event of its deletion."""
        return RunGone(
            namespace=self.pool.namespace,
            name=self.name,
            uid=_uid(self.name),
            version=self._next_version(),
        )

    def _become(self, status: Mapping[str, Any], version: str) -> None:
        metadata = {**self._object["metadata"], "resourceVersion": version}
        self._object = {**self._object, "metadata": metadata, "status": dict(status)}


class MeasuredCluster:
    """The objects of one measured cluster, and the Runs that come to it.

    full: every slot of every Pod is taken, and Runs wait for one. Else there is room for all Runs of
    a repeat, and Runs wait for a resource that no Pod has.
    """

    def __init__(self, shape: Shape, profiles: Profiles, full: bool = False) -> None:
        self.shape = shape
        self.pools = tuple(_pools(shape, profiles))
        self.full = full
        self.pods_in_all = max(shape.pods // len(self.pools), 1) * len(self.pools)
        """How many Pods there are: each pool has as many, and at least one."""
        self._decoder = Decoder()
        self._versions = count(1)
        self._names = count()
        # Twice as much as one repeat places beside the first Run of each cohort, so that no workload is about
        # the lack of room: where no Run is placed, no plugin is called, and growth cannot be told.
        placed = shape.runs + shape.cohorts * len(self.pools)
        self._slots = _BUSY_SLOTS if full else 2 * _BUSY_SLOTS + -(-2 * placed // self.pods_in_all)

    def next_version(self) -> str:
        """A newer resourceVersion than all before."""
        return str(next(self._versions))

    def pods(self, probed_at: datetime = START) -> Iterator[PodObservation]:
        """Every Pod, with a heartbeat of that time."""
        capacity = {"runs": self._slots, "cpu": _PLENTY, "memory": _PLENTY}
        status = alive(probed_at)["status"]
        for place in range(self.pods_in_all):
            pool, name = self._pod(place)
            observed = self._decoder.pod(self._stored(pool, pod_object(name, pool.runtime, capacity), status))
            if observed is not None:
                yield observed

    def running(self) -> Iterator[BenchRun]:
        """The Runs on Pods, evenly loaded; which cohort is where follows the seed."""
        slots = _BUSY_SLOTS * self.pods_in_all
        number = slots if self.full else min(slots, self.shape.known)
        cohorts = [place % self.shape.cohorts for place in range(number)]
        Random(self.shape.seed).shuffle(cohorts)  # noqa: S311 - an arrangement, not a secret
        for place, cohort in enumerate(cohorts):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.new_run(pool, cohort, {"cpu": 1}, status=on_pod(pod, "Running"))

    def ended(self, running: int) -> Iterator[BenchRun]:
        """The Runs that have ended: what is left of those known beside the running ones."""
        for place in range(max(self.shape.known - running, 0)):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.new_run(pool, place, {"cpu": 1}, status=on_pod(pod, "Succeeded"))

    def waiting(self) -> Iterator[BenchRun]:
        """The Runs that wait: for room, or for a resource that no Pod has."""
        resource = "cpu" if self.full else "gpu"
        for place in range(self.shape.waiting):
            yield self.arrival(place, {resource: 1 + self._kind(place) % self.shape.requests})

    def arrival(
        self, place: int, request: dict[str, int] | None = None, affinity: Object | None = None
    ) -> BenchRun:
        """The Run at a place among those that come one after another, to each pool in turn."""
        asked = request or {"cpu": 1 + self._kind(place) % self.shape.requests}
        return self.new_run(self.pools[place % len(self.pools)], self._kind(place), asked, affinity=affinity)

    def cohort(self, place: int) -> str:
        """The cohort of the Run at that place."""
        return f"c{self._kind(place) % self.shape.cohorts}"

    def new_run(
        self,
        pool: Pool,
        cohort: int,
        request: dict[str, int],
        *,
        affinity: Object | None = None,
        status: Mapping[str, Any] | None = None,
    ) -> BenchRun:
        """A Run that was not there before; Pending unless `status` says otherwise."""
        name, labels = f"run-{next(self._names):07}", {COHORT_LABEL: f"c{cohort % self.shape.cohorts}"}
        obj = run_object(name, pool.runtime, labels, {"runs": 1, **request}, affinity)
        stored = self._stored(pool, obj, status or {"phase": "Pending"})
        return BenchRun(pool, stored, self._decoder, self.next_version)

    def fresh_amount(self) -> int:
        """An amount that no Run has asked for yet."""
        return next(self._names)

    def _stored(self, pool: Pool, obj: Object, status: Mapping[str, Any]) -> Object:
        """An object with what an API server adds to it."""
        metadata = {
            **obj["metadata"],
            "namespace": pool.namespace,
            "uid": _uid(obj["metadata"]["name"]),
            "resourceVersion": self.next_version(),
            "creationTimestamp": format_time(START),
        }
        return {**obj, "metadata": metadata, "status": dict(status)}

    def _pod(self, place: int) -> tuple[Pool, str]:
        number = place % len(self.pools)
        return self.pools[number], f"pod-{number}-{place // len(self.pools):05}"

    def _kind(self, place: int) -> int:
        """Each pool sees every kind of Run in turn."""
        return place // len(self.pools)


def on_pod(pod: str, phase: str) -> Object:
    """The status of a Run that is, or was, on a Pod."""
    return {"phase": phase, "assignedPod": pod, "assignedPodUID": _uid(pod)}


def _uid(name: str) -> str:
    """The UID of the object of a name; its namespace tells equal names apart."""
    return f"uid-{name}"


def _pools(shape: Shape, profiles: Profiles) -> Iterator[Pool]:
    """Pairs of a namespace and a Runtime. The Runtimes that the configuration names come first.

    The first of all is one that no profile names, so that the default profile is measured.
    """
    named = sorted(runtime for profile in profiles.all for runtime in profile.runtimes or ())
    runtimes = ["bench", *named, *(f"bench-{number}" for number in range(1, shape.runtimes))]
    for number in range(shape.pools):
        yield Pool(f"bench-{number % shape.namespaces}", runtimes[number % shape.runtimes])
