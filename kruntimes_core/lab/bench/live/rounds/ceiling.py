"""What the API server takes by itself: bare patches of the shape of a bind, with nobody deciding anything.

They go to Runs like those of the load, in the same namespaces, that have ended already: so no scheduler
cares, running or not, and the same objects serve before, between and after the loads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from math import ceil

from kruntimes_core.cluster.resources import RUNS
from kruntimes_core.cluster.transport.protocol import Transport
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.rounds.stand_ins import stand_ins
from kruntimes_core.lab.bench.live.tasks import together

ROLE = "bare"
_SAMPLES = 3
"""Rates in one measurement: their spread says how steady the server is."""


class Ceiling:
    """Measures it, again and again, on the same Runs."""

    def __init__(self, site: Site, transport: Transport, patches: int, in_flight: int) -> None:
        """transport: for watches. patches: in one measurement. in_flight: at a time, one for each Run."""
        self._site = site
        self._api = site.api.lane(in_flight)
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
        async with stand_ins(self._site, self._transport) if alone else nullcontext():
            return [await self._sample(ceil(self._patches / _SAMPLES)) for _ in range(_SAMPLES)]

    async def _sample(self, patches: int) -> float:
        left = iter(range(patches))
        began = time.perf_counter()
        await together(self._patch(key, left) for key in self._versions)
        return patches / (time.perf_counter() - began)

    async def _prepare(self, number: int) -> None:
        where, name = self._site.cells[number % len(self._site.cells)], f"bare-{number:04}"
        namespace = self._site.namespace(where)
        await self._site.add_run(where, name, ROLE)
        metadata = await self._site.api.patch_status(RUNS, namespace, name, objects.ended())
        self._versions[namespace, name] = metadata["resourceVersion"]

    async def _patch(self, key: tuple[str, str], left: Iterator[int]) -> None:
        """Patch one Run again and again, until all patches together are done."""
        for _ in left:
            self._number += 1
            body = objects.bare_bind(self._versions[key], "pod-0000", self._number)
            metadata = await self._api.patch_status(RUNS, *key, body)
            self._versions[key] = metadata["resourceVersion"]
