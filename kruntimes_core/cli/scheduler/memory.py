"""The garbage collector of a process that keeps a hundred thousand objects for hours."""

from __future__ import annotations

import asyncio
import gc

from kruntimes_core.cluster.host.host import Host

_FROZEN_SECONDS = 600.0


async def rest_memory(host: Host) -> None:
    """Set what is known aside once it is listed, and again now and then.

    A full collection over 100,000 Runs stops everything for 100 ms, over what is set aside for none of
    it. The young generations are collected as ever.
    """
    gc.set_threshold(10_000, 20, 1_000)
    while not host.deciding:
        await asyncio.sleep(1.0)
    while True:
        gc.collect()
        gc.freeze()
        await asyncio.sleep(_FROZEN_SECONDS)
        gc.unfreeze()
