"""The measured cluster: its size, and the Pods and Runs in it as an API server would send them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.engine.api_calls import Write
from kruntimes_core.engine.events import RunGone, RunObserved
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.times import format_time

# Of one Pod: the Runs that run there beside those that are measured.
BUSY_SLOTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of one measured cluster; each is a dimension that cost may grow with."""

    pods: int = 1_000
    """Runtime Pods in all, spread evenly over namespaces and Runtimes."""
    runs: int = 100
    """Runs that one repeat places."""
    known: int = 10_000
    """Runs known beside them: four on each Pod, the others ended."""
    waiting: int = 1_000
    """Runs that wait meanwhile and cannot be placed."""
    requests: int = 20
    """Different requests, among those that arrive and among those that wait: so many classes wait."""
    cohorts: int = 50
    """Different labels, and so different required affinities, in each namespace."""
    preferences: int = 20
    """Different preferred affinities."""
    namespaces: int = 1
    runtimes: int = 1
    seed: int = 0
    """Chooses what lies on which Pod."""

    @property
    def pools(self) -> int:
        """How many pairs of a namespace and a Runtime have Pods."""
        return max(self.namespaces, self.runtimes)

    def sized(self, dimension: str, size: int) -> Shape:
        """The same cluster with another size of one dimension.

        What comes with further namespaces and Runtimes is further Pods: each pair keeps as many.
        """
        if dimension not in ("namespaces", "runtimes"):
            return replace(self, **{dimension: size})
        grown = replace(self, **{dimension: size})
        return replace(grown, pods=max(self.pods // self.pools, 1) * grown.pools)

    def document(self) -> dict[str, int]:
        """The numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


DIMENSIONS = tuple(field.name for field in fields(Shape) if field.name != "seed")


Object = dict[str, Any]
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_API_VERSION = "kruntimes.io/v1alpha1"
_TOPOLOGY_KEY = "kruntimes.io/runtime-pod"
_CAPACITY = "kruntimes.io/capacity."
# More than all Runs ask for: only `runs` is ever full, so that every workload knows what has room.
_PLENTY = "1000000000"


@dataclass(frozen=True, slots=True)
class Pool:
    """A Runtime in a namespace."""

    namespace: str
    runtime: str


def pod_object(pool: Pool, name: str, slots: int, version: str, probed_at: datetime) -> Object:
    """A Runtime Pod that is available for the staleness limit after `probed_at`."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(pool, name, version, {"runtime": pool.runtime})
        | {
            "annotations": {
                f"{_CAPACITY}runs": str(slots),
                f"{_CAPACITY}cpu": _PLENTY,
                f"{_CAPACITY}memory": _PLENTY,
            }
        },
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": "True"},
                {
                    "type": "kruntimes.io/RuntimedReady",
                    "status": "True",
                    "lastProbeTime": format_time(probed_at),
                },
            ],
        },
    }


def run_object(
    pool: Pool,
    name: str,
    version: str,
    *,
    request: Mapping[str, int],
    cohort: str,
    affinity: Object | None = None,
    status: Mapping[str, Any] | None = None,
) -> Object:
    """A Run of a cohort; Pending unless `status` says otherwise. request: amounts by resource."""
    spec: Object = {
        "runtime": pool.runtime,
        "mode": {"task": {"entrypoint": "main.py"}},
        "source": {"inline": "print('done')"},
        "resources": {"requests": {resource: str(amount) for resource, amount in request.items()}},
    }
    if affinity is not None:
        spec["affinity"] = affinity
    return {
        "apiVersion": _API_VERSION,
        "kind": "Run",
        "metadata": _metadata(pool, name, version, {"cohort": cohort}),
        "spec": spec,
        "status": dict(status or {"phase": "Pending"}),
    }


def near(cohort: str) -> Object:
    """Required affinity: only beside a Run of the cohort, or as its first."""
    return {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(cohort)]}}


def rather_near(cohort: str) -> Object:
    """Preferred affinity: beside a Run of the cohort where that can be had."""
    preferred = {"weight": 50, "runAffinityTerm": _term(cohort)}
    return {"runAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}


def on_pod(pod: str, phase: str) -> Object:
    """The status of a Run that is, or was, on a Pod."""
    return {"phase": phase, "assignedPod": pod, "assignedPodUID": uid(pod)}


def uid(name: str) -> str:
    """The UID of the object of a name; its namespace tells equal names apart."""
    return f"uid-{name}"


def _term(cohort: str) -> Object:
    return {"labelSelector": {"matchLabels": {"cohort": cohort}}, "topologyKey": _TOPOLOGY_KEY}


def _metadata(pool: Pool, name: str, version: str, labels: Mapping[str, str]) -> Object:
    return {
        "namespace": pool.namespace,
        "name": name,
        "uid": uid(name),
        "resourceVersion": version,
        "creationTimestamp": format_time(START),
        "labels": dict(labels),
    }


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
        metadata = self._object["metadata"]
        return RunGone(
            namespace=self.pool.namespace,
            name=self.name,
            uid=metadata["uid"],
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
        self._decoder = Decoder()
        self._versions = count(1)
        self._names = count()
        # Twice as much as one repeat places beside the first Run of each cohort, so that no workload is about
        # the lack of room: where nothing is placed, nothing is asked, and growth cannot be told.
        placed = shape.runs + shape.cohorts * len(self.pools)
        self._slots = BUSY_SLOTS if full else 2 * BUSY_SLOTS + -(-2 * placed // self.pods_in_all)

    def next_version(self) -> str:
        """A newer resourceVersion than all before."""
        return str(next(self._versions))

    # Pods

    @property
    def pods_in_all(self) -> int:
        """How many Pods there are: each pool has as many, and at least one."""
        return max(self.shape.pods // len(self.pools), 1) * len(self.pools)

    def pods(self, probed_at: datetime = START) -> Iterator[PodObservation]:
        """Every Pod, with a heartbeat of that time."""
        for place in range(self.pods_in_all):
            pool, name = self._pod(place)
            observed = self._decoder.pod(pod_object(pool, name, self._slots, self.next_version(), probed_at))
            if observed is not None:
                yield observed

    def _pod(self, place: int) -> tuple[Pool, str]:
        number = place % len(self.pools)
        return self.pools[number], f"pod-{number}-{place // len(self.pools):05}"

    # Runs

    def running(self) -> Iterator[BenchRun]:
        """The Runs on Pods, evenly loaded; which cohort is where follows the seed."""
        slots = BUSY_SLOTS * self.pods_in_all
        number = slots if self.full else min(slots, self.shape.known)
        cohorts = [place % self.shape.cohorts for place in range(number)]
        Random(self.shape.seed).shuffle(cohorts)  # noqa: S311 - an arrangement, not a secret
        for place, cohort in enumerate(cohorts):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.life(pool, cohort, {"cpu": 1}, status=on_pod(pod, "Running"))

    def ended(self, running: int) -> Iterator[BenchRun]:
        """The Runs that have ended: what is left of those known beside the running ones."""
        for place in range(max(self.shape.known - running, 0)):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.life(pool, place, {"cpu": 1}, status=on_pod(pod, "Succeeded"))

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
        return self.life(self.pools[place % len(self.pools)], self._kind(place), asked, affinity=affinity)

    def cohort(self, place: int) -> str:
        """The cohort of the Run at that place."""
        return f"c{self._kind(place) % self.shape.cohorts}"

    def _kind(self, place: int) -> int:
        """Each pool sees every kind of Run in turn."""
        return place // len(self.pools)

    def life(self, pool: Pool, cohort: int, request: dict[str, int], **fields: Any) -> BenchRun:
        """A new Run. fields: see `run_object`."""
        obj = run_object(
            pool,
            f"run-{next(self._names):07}",
            self.next_version(),
            request={"runs": 1, **request},
            cohort=f"c{cohort % self.shape.cohorts}",
            **fields,
        )
        return BenchRun(pool, obj, self._decoder, self.next_version)

    def fresh_amount(self) -> int:
        """An amount that no Run has asked for yet."""
        return next(self._names)


def _pools(shape: Shape, profiles: Profiles) -> Iterator[Pool]:
    """Pairs of a namespace and a Runtime. The Runtimes that the configuration names come first.

    The first of all is one that no profile names, so that the default profile is measured.
    """
    named = sorted(runtime for profile in profiles.all for runtime in profile.runtimes or ())
    runtimes = ["bench", *named, *(f"bench-{number}" for number in range(1, shape.runtimes))]
    for number in range(shape.pools):
        namespace = f"bench-{number % shape.namespaces}"
        yield Pool(namespace, runtimes[number % shape.runtimes])
