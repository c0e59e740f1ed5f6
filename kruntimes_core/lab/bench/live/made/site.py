"""What a bench makes in a cluster: namespaces of its own, and Pods and Runs in them and nowhere else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.lab.bench.live.api import NAMESPACES, Api, RefusedError
from kruntimes_core.lab.bench.live.load import Cell, Load, cell, cells
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.objects import ACCELERATOR, Object
from kruntimes_core.lab.bench.live.observing.observer import Observer
from kruntimes_core.lab.bench.live.tasks import together

_PODS_IN_FLIGHT = 32
_FORBIDDEN = 403
_PAUSE_SECONDS = 0.25
_PAUSES = 40


@dataclass(frozen=True, slots=True)
class Placed:
    """A Pod that is there."""

    cell: Cell
    namespace: str
    name: str
    uid: str


class Site:
    """The namespaces of one bench. Whatever it makes bears the bench's label, and is in one of them."""

    def __init__(self, api: Api, observer: Observer, load: Load, bench: str) -> None:
        """bench: tells it from every other one."""
        self.api = api
        self.pods_api = api.lane(_PODS_IN_FLIGHT)
        """For what Pods write: a heartbeat must not wait behind thousands of new Runs."""
        self.observer = observer
        self.load = load
        self.cells = cells(load)
        self.namespaces: list[str] = []
        self.pods: list[Placed] = []
        self.bench = bench

    def namespace(self, where: Cell) -> str:
        """The name of a cell's namespace."""
        return self.namespaces[where.namespace]

    async def open(self) -> None:
        """Make the namespaces."""
        for _ in range(self.load.namespaces):
            made = await self.api.create(NAMESPACES, objects.namespace(self.bench))
            self.namespaces.append(str(made["name"]))

    async def add_pods(self) -> None:
        """Make the Pods of the load, and wait until they are seen ready."""
        extra = {ACCELERATOR: 1} if self.load.waiting_elsewhere else {}
        capacity = {"runs": self.load.slots_of_a_pod + len(extra), **extra}
        await together(
            self.add_pod(cell(self.load, number), f"pod-{number:04}", capacity)
            for number in range(self.load.pods)
        )

    async def add_pod(
        self, where: Cell, name: str, capacity: dict[str, int], runtime: str | None = None
    ) -> Placed:
        """Make a Pod, and wait until it is seen ready. runtime: another one than that of its cell."""
        namespace = self.namespace(where)
        body = objects.pod(name, self.bench, runtime or runtime_of(where), capacity)
        made = await self._create_pod(namespace, body)
        status = objects.alive(datetime.now(UTC), ahead=not self.load.heartbeat_seconds)
        await self.api.patch_status(PODS, namespace, name, status)
        placed = Placed(where, namespace, name, str(made["uid"]))
        await self.observer.until(lambda: self._is_ready(placed))
        self.pods.append(placed)
        return placed

    async def add_run(
        self,
        where: Cell,
        name: str,
        role: str,
        *,
        runtime: str | None = None,
        requests: dict[str, int] | None = None,
        cohort: str | None = None,
    ) -> Object:
        """Make a Run; returns its metadata. runtime: another one than that of its cell."""
        body = objects.run(name, self.bench, role, runtime or runtime_of(where), requests, cohort)
        return await self.api.create(RUNS, body, self.namespace(where))

    async def _create_pod(self, namespace: str, body: Object) -> Object:
        """A cluster refuses Pods until its controllers have made the namespace's ServiceAccount."""
        for _ in range(_PAUSES):
            try:
                return await self.api.create(PODS, body, namespace)
            except RefusedError as error:
                if error.code != _FORBIDDEN or "serviceaccount" not in str(error):
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)
        return await self.api.create(PODS, body, namespace)

    def _is_ready(self, placed: Placed) -> bool:
        seen = self.observer.pods.get((placed.namespace, placed.name))
        return seen is not None and seen.ready


def runtime_of(where: Cell) -> str:
    """The name of a cell's Runtime."""
    return f"bench-{where.runtime:03}"
