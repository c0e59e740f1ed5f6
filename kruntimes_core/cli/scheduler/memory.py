"""When the scheduler sets aside what it knows, so that the garbage collector does not stop it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from kruntimes_core.cluster.garbage_collection import collect_young_objects, freeze_objects

_PAUSE_SECONDS = 60.0


class Deciding(Protocol):
    """What can tell whether everything is listed, and this process is the one that decides."""

    @property
    def deciding(self) -> bool:
        """Whether it decides."""


async def rest_memory(host: Deciding) -> None:
    """Set what is known aside once it is listed, and then what was learnt since, again and again."""
    collect_young_objects()
    while not host.deciding:
        await asyncio.sleep(1.0)
    while True:
        freeze_objects()
        await asyncio.sleep(_PAUSE_SECONDS)
