"""Plays what runtimed does for a Pod: a heartbeat now and then, each Pod at moments of its own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from kruntimes_core.cluster.client.resources import PODS
from kruntimes_core.lab.bench.live.api import RefusedError
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.site import Placed, Site

_GONE = 404


async def keep_alive(site: Site) -> None:
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


async def _beat(site: Site, pod: Placed) -> None:
    try:
        await site.pods_api.patch_status(PODS, pod.namespace, pod.name, objects.alive(datetime.now(UTC)))
    except RefusedError as error:
        # The bench may have deleted it meanwhile.
        if error.code != _GONE:
            raise
