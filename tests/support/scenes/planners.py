"""Work for a planner of short patience."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker import PluginWork, ThreadPluginWorker
from kruntimes_core.engine.plugin_work import ReserveWork
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import profiles_of

LIMIT = 0.05
"""Of a call, in seconds; and as long again until it is given up."""


def reserve_of(*plugins: ActivePlugin) -> ReserveWork:
    """The question whether the plugins agree to a placement."""
    host = Host(profiles_of(*plugins))
    host.pod("py-0")
    host.run("r1")
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    return work


def planning(
    scene: Callable[[ThreadPluginWorker], Awaitable[None]], limit: float = LIMIT, **more: float
) -> str:
    """Play a scene with a planner of short patience; gives what was logged."""
    lines = io.StringIO()

    async def main() -> None:
        planner = ThreadPluginWorker(
            Log(lines, SystemClock()), limit_seconds=limit, grace_seconds=LIMIT, **more
        )
        async with asyncio.timeout(30):
            await scene(planner)
        planner.close()

    asyncio.run(main())
    return lines.getvalue()


async def executed(planner: ThreadPluginWorker, work: PluginWork) -> Any:
    """Submit work and wait for what comes of it."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    planner.submit(work, done.set_result)
    return await done


async def returned(planner: ThreadPluginWorker) -> None:
    """Wait until no call is stuck any more."""
    while planner.stuck:
        await asyncio.sleep(0)


def passing(pod: Any) -> None:
    """A filter that lets every Pod through, or a `reserve` that agrees."""
