"""What the API server takes by itself: bare patches of the shape of a bind, without any decision.

They go to Runs like those of the load, in the same namespaces, that have ended already: so no scheduler
cares, running or not, and the same objects serve before, between and after the loads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from itertools import cycle
from math import ceil

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.cluster.client.transport import Call, Transport
from kruntimes_core.lab.bench import objects
from kruntimes_core.lab.bench.live.api import GONE, RefusedError, beside, together
from kruntimes_core.lab.bench.live.cluster import LoadedCluster

ROLE = "bare"
_SAMPLES = 3
"""Rates in one measurement: their spread says how steady the server is."""
_IN_TURN = 16
"""Runs that take turns, for each patch that is under way at a time.

A bind patches a Run that was left alone for a while. To patch one that was patched a moment ago takes an API
server with etcd a sixth longer, so a few Runs alone would show too low a ceiling.
"""
_WATCH_SECONDS = 600


class Ceiling:
    """Measures it, again and again, on the same Runs."""

    def __init__(self, cluster: LoadedCluster, transport: Transport, patches: int, in_flight: int) -> None:
        """transport: for watches. patches: in one measurement. in_flight: at a time."""
        self._cluster = cluster
        self._api = cluster.api.lane(in_flight)
        self._transport = transport
        self._patches = patches
        self._in_flight = in_flight
        self._versions: dict[tuple[str, str], str] = {}
        self._number = 0

    async def prepare(self) -> None:
        """Make the Runs: no more than there are patches, beside one for each that is under way."""
        runs = max(min(self._in_flight * _IN_TURN, self._patches), self._in_flight)
        await together(self._prepare(number) for number in range(runs))

    async def measure(self, *, alone: bool) -> list[float]:
        """Patches a second, as several samples one after the other.

        alone: no scheduler runs, so watches such as it would have are opened instead.
        """
        async with _stand_ins(self._cluster, self._transport) if alone else nullcontext():
            return [await self._sample(ceil(self._patches / _SAMPLES)) for _ in range(_SAMPLES)]

    async def _sample(self, patches: int) -> float:
        left, runs = iter(range(patches)), list(self._versions)
        began = time.perf_counter()
        await together(self._patch(runs[lane :: self._in_flight], left) for lane in range(self._in_flight))
        return patches / (time.perf_counter() - began)

    async def _prepare(self, number: int) -> None:
        cluster, name = self._cluster, f"bare-{number:04}"
        where = cluster.cells[number % len(cluster.cells)]
        namespace = cluster.namespace(where)
        await cluster.add_run(where, name, ROLE)
        metadata = await cluster.api.patch_status(RUNS, namespace, name, objects.ended())
        self._versions[namespace, name] = metadata["resourceVersion"]

    async def _patch(self, runs: Sequence[tuple[str, str]], left: Iterator[int]) -> None:
        """Patch some Runs in turn, until all patches together are done."""
        for key, _ in zip(cycle(runs), left):
            self._number += 1
            body = objects.bare_bind(self._versions[key], "pod-0000", self._number)
            metadata = await self._api.patch_status(RUNS, *key, body)
            self._versions[key] = metadata["resourceVersion"]


@asynccontextmanager
async def _stand_ins(cluster: LoadedCluster, transport: Transport) -> AsyncIterator[None]:
    """Within the block the API server has to tell watches such as a scheduler has of each patch."""
    opened: list[asyncio.Event] = []
    watches = []
    for resource in (PODS, WORKSPACES, RUNS):
        for namespace in cluster.namespaces:
            version = await _version(cluster, resource, namespace)
            if version is not None:
                opened.append(asyncio.Event())
                watches.append(_read_watch(transport, resource, namespace, version, opened[-1]))
    async with beside(watches):
        for event in opened:
            await event.wait()
        yield


async def _read_watch(
    transport: Transport, resource: ApiResource, namespace: str, version: str, opened: asyncio.Event
) -> None:
    """Read a watch until the server ends it; nothing is made of it."""
    call = Call(
        method="GET",
        path=resource.path(namespace),
        query=(*resource.selector, ("watch", "1"), ("resourceVersion", version)),
        timeout_seconds=_WATCH_SECONDS,
    )
    async with aclosing(transport.stream(call)) as chunks:
        async for _ in chunks:
            opened.set()


async def _version(cluster: LoadedCluster, resource: ApiResource, namespace: str) -> str | None:
    """Where a watch begins. None for workspaces that the server does not serve: a scheduler works without."""
    try:
        listed = await cluster.api.list(resource, namespace, (("limit", "1"),))
    except RefusedError as error:
        if resource is not WORKSPACES or error.code != GONE:
            raise
        return None
    return str(listed["metadata"]["resourceVersion"])
