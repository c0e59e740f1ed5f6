"""What the API server takes by itself: bare patches of the shape of a bind, with nobody deciding anything.

They go to Runs like those of the load, in the same namespaces, that have ended already: so no scheduler
cares, running or not, and the same objects serve before, between and after the loads.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

from kruntimes_core.cluster.resources import PODS, RUNS, WORKSPACES, Resource
from kruntimes_core.cluster.transport.protocol import Call, Transport
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.tasks import beside, together

ROLE = "bare"
_SAMPLES = 5
"""Parts of one measurement, each with a rate of its own: their spread says how steady the server is."""
_WATCH_SECONDS = 600
_SHORTEST_SECONDS = 1e-6


class Ceiling:
    """Measures it, again and again, on the same Runs."""

    def __init__(self, site: Site, transport: Transport, patches: int, in_flight: int) -> None:
        """transport: for watches. patches: in one measurement. in_flight: at a time, one for each Run."""
        self._site = site
        self._transport = transport
        self._patches = patches
        self._in_flight = in_flight
        self._versions: dict[tuple[str, str], str] = {}
        self._number = 0

    async def prepare(self) -> None:
        """Make the Runs."""
        await together(self._prepare(number) for number in range(self._in_flight))

    async def measure(self, *, alone: bool) -> list[float]:
        """Patches a second, as several samples one after the other.

        alone: no scheduler runs, so watches such as it would have are opened instead.
        """
        moments: list[float] = []
        left = iter(range(self._patches))
        async with beside(await self._stand_ins() if alone else ()):
            moments.append(time.perf_counter())
            await together(self._patch(key, left, moments) for key in self._versions)
        return _rates(moments)

    async def _prepare(self, number: int) -> None:
        where, name = self._site.cells[number % len(self._site.cells)], f"bare-{number:04}"
        namespace = self._site.namespace(where)
        await self._site.add_run(where, name, ROLE)
        metadata = await self._site.api.patch_status(RUNS, namespace, name, objects.ended())
        self._versions[namespace, name] = metadata["resourceVersion"]

    async def _patch(self, key: tuple[str, str], left: Iterator[int], answered: list[float]) -> None:
        """Patch one Run again and again, until all patches together are done."""
        for _ in left:
            self._number += 1
            body = objects.bare_bind(self._versions[key], "pod-0000", self._number)
            metadata = await self._site.api.patch_status(RUNS, *key, body)
            self._versions[key] = metadata["resourceVersion"]
            answered.append(time.perf_counter())

    async def _stand_ins(self) -> list[Coroutine[Any, Any, None]]:
        """Watches as a scheduler has them. They are read and nothing is made of them."""
        return [
            self._follow(resource, name, await self._site.api.version(resource, name))
            for resource in (PODS, WORKSPACES, RUNS)
            for name in self._site.namespaces
        ]

    async def _follow(self, resource: Resource, namespace: str, version: str) -> None:
        query = (*resource.selector, ("watch", "1"), ("resourceVersion", version))
        call = Call(method="GET", path=resource.path(namespace), query=query, timeout_seconds=_WATCH_SECONDS)
        async with aclosing(self._transport.stream(call)) as chunks:
            async for _ in chunks:
                pass


def _rates(moments: Sequence[float]) -> list[float]:
    """The rate of each part of a measurement. moments: its beginning, and when each patch was answered."""
    last = len(moments) - 1
    parts = min(_SAMPLES, last)
    ends = [last * part // parts for part in range(parts + 1)]
    return [
        (end - start) / max(moments[end] - moments[start], _SHORTEST_SECONDS) for start, end in pairwise(ends)
    ]
