"""What a bench makes in a cluster: namespaces of its own, and Pods and Runs in them and nowhere else."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.lab.bench.live import objects
from kruntimes_core.lab.bench.live.api import NAMESPACES, Api, RefusedError, together
from kruntimes_core.lab.bench.live.load import BenchLoad, Cell, Waits, cell, cells
from kruntimes_core.lab.bench.live.objects import ACCELERATOR, BENCH_LABEL, ROLE_LABEL, Object
from kruntimes_core.lab.bench.live.watch import BenchWatch
from kruntimes_core.model.messages import InputError

_PODS_IN_FLIGHT = 32
_FORBIDDEN = 403
_PAUSE_SECONDS = 0.25
_PAUSES = 40


@dataclass(frozen=True, slots=True)
class BenchPod:
    """A Pod that is there."""

    cell: Cell
    namespace: str
    name: str
    uid: str


class LoadedCluster:
    """The namespaces of one bench. Whatever it makes bears the bench's label, and is in one of them."""

    def __init__(self, api: Api, observer: BenchWatch, load: BenchLoad, bench: str) -> None:
        """bench: tells it from every other one."""
        self.api = api
        self.pods_api = api.lane(_PODS_IN_FLIGHT)
        """For what Pods write: a heartbeat must not wait behind thousands of new Runs."""
        self.observer = observer
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
    ) -> BenchPod:
        """Make a Pod, and wait until it is seen ready. runtime: another one than that of its cell."""
        namespace = self.namespace(where)
        body = objects.pod(name, self.bench, runtime or runtime_of(where), capacity)
        made = await self._create_pod(namespace, body)
        status = objects.alive(datetime.now(UTC), ahead=not self.load.heartbeat_seconds)
        await self.api.patch_status(PODS, namespace, name, status)
        placed = BenchPod(where, namespace, name, str(made["uid"]))
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

    def _is_ready(self, placed: BenchPod) -> bool:
        seen = self.observer.pods.get((placed.namespace, placed.name))
        return seen is not None and seen.ready


def runtime_of(where: Cell) -> str:
    """The name of a cell's Runtime."""
    return f"bench-{where.runtime:03}"


_PAUSE_SECONDS = 0.25


async def remove_runs(site: LoadedCluster, role: str) -> None:
    """Delete the Runs of a role, and wait until that is seen."""
    query = (("labelSelector", f"{ROLE_LABEL}={role}"),)
    with site.observer.clearing():
        await together(site.api.delete_all(RUNS, name, query) for name in site.namespaces)
        await site.observer.until(
            lambda: all(run.labels.get(ROLE_LABEL) != role for run in site.observer.runs.values())
        )


async def remove_pods(site: LoadedCluster) -> None:
    """Delete all Pods, and wait until that is seen."""
    with site.observer.clearing():
        await together(site.api.delete_all(PODS, name) for name in site.namespaces)
        await site.observer.until(lambda: not site.observer.pods)
    site.pods.clear()


async def remove_everything(site: LoadedCluster, seconds: float) -> list[str]:
    """Delete all objects and the namespaces; returns those whose deletion nobody finishes here.

    That takes a controller manager, which the API server of a test has not. They are empty then.
    seconds: how long one may take. Raises `InputError` for objects that stay, as by a finalizer; all else
    is gone then.
    """
    left = await site.api.names(NAMESPACES, (("labelSelector", f"{BENCH_LABEL}={site.bench}"),))
    with site.observer.clearing():
        try:
            for resource in (PODS, RUNS):
                await together(site.api.delete_all(resource, name) for name in left)
        finally:
            await together(site.api.delete(NAMESPACES, None, name) for name in left)
    given_up_at = time.monotonic() + seconds
    while left := [name for name in left if await _is_there(site, name)]:
        if time.monotonic() >= given_up_at:
            break
        await asyncio.sleep(_PAUSE_SECONDS)
    return left


async def _is_there(site: LoadedCluster, name: str) -> bool:
    return (await site.api.get(NAMESPACES.path(None, name))).status != 404


ROLE = "probe"


async def check_nobody_else(site: LoadedCluster, seconds: float) -> None:
    """Raises `InputError` if some scheduler of the cluster places a Run before the bench starts one.

    seconds: how long it may take to do so.
    """
    if await _is_placed(site, seconds):
        raise InputError(
            "a scheduler that the bench did not start places Runs on this server: stop it, or measure it with"
            " --no-scheduler or --scheduler-pid PID"
        )


async def wait_until_ready(site: LoadedCluster, seconds: float, waits: Waits) -> bool:
    """Wait until a Run is placed, and then until nothing more is written to those that wait.

    Returns whether that came. Raises `InputError` if the Run is not placed within `seconds`.
    """
    if not await _is_placed(site, seconds):
        raise InputError(
            f"nothing placed a Run within {seconds:g} s: does the scheduler run, and on this server?"
        )
    return await site.observer.quiet(waits.quiet, waits.longest_quiet)


async def _is_placed(site: LoadedCluster, seconds: float) -> bool:
    where = site.cells[0]
    await site.add_run(where, ROLE, ROLE)
    key = site.namespace(where), ROLE
    placed = await site.observer.until(
        lambda: key in site.observer.runs and bool(site.observer.runs[key].pod_uid), seconds
    )
    await remove_runs(site, ROLE)
    return placed


HOPELESS, ELSEWHERE, HOLDER = "hopeless", "elsewhere", "holder"
_OTHER_RUNTIME = "bench-elsewhere"
_PATIENCE_SECONDS = 60.0


async def add_background(site: LoadedCluster, *, scheduled: bool) -> None:
    """Make the Runs that can never fit, and those that wait for room which somebody else has.

    scheduled: a scheduler runs already, which places those that have the room; else the bench does.
    """
    load = site.load
    await together(
        site.add_run(
            _where(site, number),
            f"hopeless-{number:05}",
            HOPELESS,
            requests={"runs": load.slots_of_a_pod + 2},
        )
        for number in range(load.hopeless)
    )
    if not load.waiting_elsewhere:
        return
    other = await site.add_pod(site.cells[0], "pod-elsewhere", {"runs": 1}, _OTHER_RUNTIME)
    await together(
        _hold(site, number, pod, other=pod is other, scheduled=scheduled)
        for number, pod in enumerate(site.pods)
    )
    await together(_wait_elsewhere(site, number, other.cell) for number in range(load.waiting_elsewhere))


async def _hold(site: LoadedCluster, number: int, pod: BenchPod, *, other: bool, scheduled: bool) -> None:
    """Let a Run hold what others are to wait for."""
    name = f"holder-{number:04}"
    requests = None if other else {ACCELERATOR: 1}
    runtime = _OTHER_RUNTIME if other else None
    await site.add_run(pod.cell, name, HOLDER, runtime=runtime, requests=requests)
    if not scheduled:
        await site.api.patch_status(RUNS, pod.namespace, name, objects.occupying(pod.name, pod.uid))
    key = pod.namespace, name
    held = await site.observer.until(
        lambda: key in site.observer.runs and site.observer.runs[key].active, _PATIENCE_SECONDS
    )
    if not held:
        raise InputError(f"run {pod.namespace}/{name} is not placed, and has room: does a scheduler run?")


async def _wait_elsewhere(site: LoadedCluster, number: int, other: Cell) -> None:
    """Every second one waits for the other Runtime, the others for the resource."""
    name = f"elsewhere-{number:05}"
    if number % 2:
        await site.add_run(_where(site, number), name, ELSEWHERE, requests={ACCELERATOR: 1})
    else:
        await site.add_run(other, name, ELSEWHERE, runtime=_OTHER_RUNTIME)


def _where(site: LoadedCluster, number: int) -> Cell:
    return site.cells[number % len(site.cells)]


_GONE = 404


async def keep_alive(site: LoadedCluster) -> None:
    """Renew the `lastProbeTime` of each Pod, evenly over the period. Never returns."""
    under_way: dict[str, asyncio.Task[None]] = {}
    async with asyncio.TaskGroup() as group:
        while True:
            # Pods come and go with a round: there may be none.
            for pod in list(site.pods):
                if pod.uid not in under_way or under_way[pod.uid].done():
                    under_way[pod.uid] = group.create_task(_beat(site, pod))
                await asyncio.sleep(site.load.heartbeat_seconds / max(len(site.pods), 1))
            if not site.pods:
                await asyncio.sleep(site.load.heartbeat_seconds)


async def _beat(site: LoadedCluster, pod: BenchPod) -> None:
    try:
        await site.pods_api.patch_status(PODS, pod.namespace, pod.name, objects.alive(datetime.now(UTC)))
    except RefusedError as error:
        # The bench may have deleted it meanwhile.
        if error.code != _GONE:
            raise
