"""What a bench makes in a cluster: namespaces of its own, and Pods and Runs in them and nowhere else."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.lab.bench import objects
from kruntimes_core.lab.bench.live.api import FORBIDDEN, GONE, NAMESPACES, Api, RefusedError, together
from kruntimes_core.lab.bench.live.load import BenchLoad, Cell, cell, cells
from kruntimes_core.lab.bench.live.watch import BenchWatch
from kruntimes_core.lab.bench.objects import BENCH_LABEL, COHORT_LABEL, ROLE_LABEL, Object
from kruntimes_core.model.messages import InputError

HOPELESS, ELSEWHERE, HOLDER, PROBE = "hopeless", "elsewhere", "holder", "probe"
"""Roles of Runs beside the load."""
_ACCELERATOR = "accelerators"
"""A resource of which each Pod has one, in use from the beginning, where Runs are to wait for it."""
_OTHER_RUNTIME = "bench-elsewhere"
_PATIENCE_SECONDS = 60.0
_PODS_IN_FLIGHT = 32
_PAUSE_SECONDS = 0.25
_PAUSES = 40
_AHEAD = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class BenchPod:
    """A Pod that is there."""

    cell: Cell
    namespace: str
    name: str
    uid: str


class LoadedCluster:
    """The namespaces of one bench. All objects of the bench are in them, and have the bench's label."""

    def __init__(self, api: Api, watch: BenchWatch, load: BenchLoad, bench: str) -> None:
        """bench: tells it from every other one."""
        self.api = api
        self.pods_api = api.lane(_PODS_IN_FLIGHT)
        """For what Pods write: a heartbeat must not wait behind thousands of new Runs."""
        self.watch = watch
        self.load = load
        self.cells = cells(load)
        self.namespaces: list[str] = []
        self.pods: list[BenchPod] = []
        self.bench = bench

    def namespace(self, where: Cell) -> str:
        """The name of a cell's namespace."""
        return self.namespaces[where.namespace]

    async def open(self) -> None:
        """Make the namespaces."""
        for _ in range(self.load.namespaces):
            made = await self.api.create(NAMESPACES, objects.namespace_object({BENCH_LABEL: self.bench}))
            self.namespaces.append(str(made["name"]))

    async def add_pods(self) -> None:
        """Make the Pods of the load, and wait until they are seen ready."""
        extra = {_ACCELERATOR: 1} if self.load.waiting_elsewhere else {}
        capacity = {"runs": self.load.slots_of_a_pod + len(extra), **extra}
        await together(
            self.add_pod(cell(self.load, number), f"pod-{number:04}", capacity)
            for number in range(self.load.pods)
        )

    async def add_pod(
        self, where: Cell, name: str, capacity: dict[str, int], runtime: str | None = None
    ) -> BenchPod:
        """Make a Pod, and wait until it is seen ready. runtime: another one than that of its cell."""
        namespace, labels = self.namespace(where), {BENCH_LABEL: self.bench}
        body = objects.pod_object(name, runtime or _runtime_of(where), capacity, labels)
        made = await self._create_pod(namespace, body)
        probed_at = datetime.now(UTC) + (timedelta() if self.load.heartbeat_seconds else _AHEAD)
        await self.api.patch_status(PODS, namespace, name, objects.alive(probed_at))
        pod, key = BenchPod(where, namespace, name, str(made["uid"])), (namespace, name)
        await self.watch.until(lambda: key in self.watch.pods and self.watch.pods[key].ready)
        self.pods.append(pod)
        return pod

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
        labels, affinity = {BENCH_LABEL: self.bench, ROLE_LABEL: role}, None
        if cohort is not None:
            labels[COHORT_LABEL], affinity = cohort, objects.near(COHORT_LABEL, cohort)
        body = objects.run_object(name, runtime or _runtime_of(where), labels, requests, affinity)
        return await self.api.create(RUNS, body, self.namespace(where))

    async def is_placed(self, where: Cell, name: str, seconds: float) -> bool:
        """Whether a Run is placed within `seconds`."""
        runs, key = self.watch.runs, (self.namespace(where), name)
        return await self.watch.until(lambda: key in runs and bool(runs[key].pod_uid), seconds)

    async def is_probe_placed(self, seconds: float) -> bool:
        """Whether some scheduler places Runs: one that is made for it is placed within `seconds`."""
        await self.add_run(self.cells[0], PROBE, PROBE)
        placed = await self.is_placed(self.cells[0], PROBE, seconds)
        await self.remove_runs(PROBE)
        return placed

    async def remove_runs(self, role: str) -> None:
        """Delete the Runs of a role, and wait until that is seen."""
        query, runs = (("labelSelector", f"{ROLE_LABEL}={role}"),), self.watch.runs
        with self.watch.clearing():
            await together(self.api.delete_all(RUNS, name, query) for name in self.namespaces)
            await self.watch.until(lambda: all(run.labels.get(ROLE_LABEL) != role for run in runs.values()))

    async def remove_pods(self) -> None:
        """Delete all Pods, and wait until that is seen."""
        with self.watch.clearing():
            await together(self.api.delete_all(PODS, name) for name in self.namespaces)
            await self.watch.until(lambda: not self.watch.pods)
        self.pods.clear()

    async def remove_everything(self, seconds: float) -> list[str]:
        """Delete all objects and the namespaces; returns the namespaces that stay, empty.

        To end their deletion takes a controller manager, which the API server of a test has not.
        seconds: how long one may take. Raises `InputError` for objects that stay, as by a finalizer; all
        else is gone then.
        """
        listed = await self.api.list(NAMESPACES, None, (("labelSelector", f"{BENCH_LABEL}={self.bench}"),))
        left = [str(one["metadata"]["name"]) for one in listed["items"]]
        with self.watch.clearing():
            try:
                for resource in (PODS, RUNS):
                    await together(self.api.delete_all(resource, name) for name in left)
            finally:
                await together(self.api.delete(NAMESPACES, None, name) for name in left)
        given_up_at = time.monotonic() + seconds
        while left := [name for name in left if await self._is_there(name)]:
            if time.monotonic() >= given_up_at:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        return left

    async def _is_there(self, namespace: str) -> bool:
        return (await self.api.get(NAMESPACES.path(None, namespace))).status != GONE

    async def _create_pod(self, namespace: str, body: Object) -> Object:
        """A cluster refuses Pods until its controllers have made the namespace's ServiceAccount."""
        for _ in range(_PAUSES):
            try:
                return await self.api.create(PODS, body, namespace)
            except RefusedError as error:
                if error.code != FORBIDDEN or "serviceaccount" not in str(error):
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)
        return await self.api.create(PODS, body, namespace)


def _runtime_of(where: Cell) -> str:
    return f"bench-{where.runtime:03}"


# What is there beside the load, and must not slow it down


async def add_background(cluster: LoadedCluster, *, scheduled: bool) -> None:
    """Make the Runs that can never fit, and those that wait for room which other Runs have.

    scheduled: a scheduler runs already, which places those that have the room; else the bench does.
    """
    load, spread = cluster.load, len(cluster.cells)
    requests = {"runs": load.slots_of_a_pod + 2}
    await together(
        cluster.add_run(cluster.cells[number % spread], f"hopeless-{number:05}", HOPELESS, requests=requests)
        for number in range(load.hopeless)
    )
    if not load.waiting_elsewhere:
        return
    other = await cluster.add_pod(cluster.cells[0], "pod-elsewhere", {"runs": 1}, _OTHER_RUNTIME)
    await together(
        _hold(cluster, number, pod, other=pod is other, scheduled=scheduled)
        for number, pod in enumerate(cluster.pods)
    )
    # Every second one waits for the other Runtime, the others for the resource.
    await together(
        cluster.add_run(
            cluster.cells[number % spread], f"elsewhere-{number:05}", ELSEWHERE, requests={_ACCELERATOR: 1}
        )
        if number % 2
        else cluster.add_run(other.cell, f"elsewhere-{number:05}", ELSEWHERE, runtime=_OTHER_RUNTIME)
        for number in range(load.waiting_elsewhere)
    )


async def _hold(cluster: LoadedCluster, number: int, pod: BenchPod, *, other: bool, scheduled: bool) -> None:
    """Let a Run hold what others are to wait for. other: the Pod is that of the other Runtime."""
    name = f"holder-{number:04}"
    requests, runtime = (None, _OTHER_RUNTIME) if other else ({_ACCELERATOR: 1}, None)
    await cluster.add_run(pod.cell, name, HOLDER, runtime=runtime, requests=requests)
    if not scheduled:
        await cluster.api.patch_status(RUNS, pod.namespace, name, objects.occupying(pod.name, pod.uid))
    if not await cluster.is_placed(pod.cell, name, _PATIENCE_SECONDS):
        raise InputError(
            f"run {pod.namespace}/{name} was not placed, although there is room: start a scheduler"
        )


# What runtimed does for a Pod


async def keep_alive(cluster: LoadedCluster) -> None:
    """Renew the `lastProbeTime` of each Pod, evenly over the period. Never returns."""
    under_way: dict[str, asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as group:
        while True:
            # Pods come and go with a round: there may be none.
            for pod in list(cluster.pods):
                if pod.uid not in under_way or under_way[pod.uid].done():
                    under_way[pod.uid] = group.create_task(_beat(cluster, pod))
                await asyncio.sleep(cluster.load.heartbeat_seconds / max(len(cluster.pods), 1))
            if not cluster.pods:
                await asyncio.sleep(cluster.load.heartbeat_seconds)


async def _beat(cluster: LoadedCluster, pod: BenchPod) -> None:
    try:
        status = objects.alive(datetime.now(UTC))
        await cluster.pods_api.patch_status(PODS, pod.namespace, pod.name, status)
    except RefusedError as error:
        # The bench may have deleted it meanwhile.
        if error.code != GONE:
            raise
