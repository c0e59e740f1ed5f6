"""What is there before anything is measured: Pods, Runs that run or have ended, and Runs that wait."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.objects import START, Object, Pool, on_pod, pod_object, run_object
from kruntimes_core.lab.bench.engine.shape import BUSY_SLOTS, Shape
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.pod import PodObservation


class Cluster:
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

    def running(self) -> Iterator[Life]:
        """The Runs on Pods, evenly loaded; which cohort is where follows the seed."""
        slots = BUSY_SLOTS * self.pods_in_all
        number = slots if self.full else min(slots, self.shape.known)
        cohorts = [place % self.shape.cohorts for place in range(number)]
        Random(self.shape.seed).shuffle(cohorts)  # noqa: S311 - an arrangement, not a secret
        for place, cohort in enumerate(cohorts):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.life(pool, cohort, {"cpu": 1}, status=on_pod(pod, "Running"))

    def ended(self, running: int) -> Iterator[Life]:
        """The Runs that have ended: what is left of those known beside the running ones."""
        for place in range(max(self.shape.known - running, 0)):
            pool, pod = self._pod(place % self.pods_in_all)
            yield self.life(pool, place, {"cpu": 1}, status=on_pod(pod, "Succeeded"))

    def waiting(self) -> Iterator[Life]:
        """The Runs that wait: for room, or for a resource that no Pod has."""
        resource = "cpu" if self.full else "gpu"
        for place in range(self.shape.waiting):
            yield self.arrival(place, {resource: 1 + self._kind(place) % self.shape.requests})

    def arrival(
        self, place: int, request: dict[str, int] | None = None, affinity: Object | None = None
    ) -> Life:
        """The Run at a place among those that come one after another, to each pool in turn."""
        asked = request or {"cpu": 1 + self._kind(place) % self.shape.requests}
        return self.life(self.pools[place % len(self.pools)], self._kind(place), asked, affinity=affinity)

    def cohort(self, place: int) -> str:
        """The cohort of the Run at that place."""
        return f"c{self._kind(place) % self.shape.cohorts}"

    def _kind(self, place: int) -> int:
        """Each pool sees every kind of Run in turn."""
        return place // len(self.pools)

    def life(self, pool: Pool, cohort: int, request: dict[str, int], **fields: Any) -> Life:
        """A new Run. fields: see `run_object`."""
        obj = run_object(
            pool,
            f"run-{next(self._names):07}",
            self.next_version(),
            request={"runs": 1, **request},
            cohort=f"c{cohort % self.shape.cohorts}",
            **fields,
        )
        return Life(pool, obj, self._decoder, self.next_version)

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
