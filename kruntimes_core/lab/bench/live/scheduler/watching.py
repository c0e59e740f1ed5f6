"""Lets a process group end with this process, even if this one is killed hard."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kruntimes_core.lab.bench.live.scheduler import watcher


@asynccontextmanager
async def bound_to_us(group: int) -> AsyncIterator[None]:
    """Within the block the group ends when this process does; after it, nobody cares."""
    watching = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", watcher.__file__, str(group)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        # What ends this process may be meant for all of its session.
        start_new_session=True,
    )
    try:
        yield
    finally:
        # One that was killed needs not be told.
        with suppress(ConnectionError):
            await watching.communicate(watcher.DISMISSED)
