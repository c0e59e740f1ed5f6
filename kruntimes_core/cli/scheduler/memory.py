"""When the scheduler sets aside what it knows, so that the garbage collector does not stop it."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.collector import calm_collector, set_aside, take_back
from kruntimes_core.cluster.host.host import Host

_FROZEN_SECONDS = 600.0


async def rest_memory(host: Host) -> None:
    """Set what is known aside once it is listed, and again now and then."""
    calm_collector()
    while not host.deciding:
        await asyncio.sleep(1.0)
    while True:
        set_aside()
        await asyncio.sleep(_FROZEN_SECONDS)
        take_back()
