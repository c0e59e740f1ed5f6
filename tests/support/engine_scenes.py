"""A Run that waits or is in work, what a user sees of it, and work for a plugin worker of short patience."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.engine.decisions import Decision
from kruntimes_core.engine.plugin_work import PluginWork, ReserveWork, Work
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import profiles_of

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'
"""Of a Run that waits for room on any Pod (specification, Status and Retry Semantics)."""


def decision(host: Host, name: str = "r") -> Decision:
    """The last one on this Run."""
    entry = host.engine.find(NAMESPACE, name)
    assert entry is not None
    assert entry.decision is not None
    return entry.decision


def condition(host: Host, kind: str, name: str = "r") -> dict[str, Any]:
    """The condition of this type."""
    (found,) = [one for one in host.status(name)["conditions"] if one["type"] == kind]
    return dict(found)


def full(host: Host, name: str = "py-0") -> None:
    """A Pod without room, and a Run `r` that waits for it."""
    host.pod(name, runs=1)
    host.run("x", pod=name)
    host.run("r")
    host.settle()
    host.engine.counters.wakeups.clear()
    assert host.pod_of("r") is None


@contextmanager
def in_work(host: Host) -> Iterator[None]:
    """Work was taken before what happens inside, and is finished once that was observed."""
    host.observe()
    work = host.take()
    yield
    host.observe()
    host.finish(work)


def work_of(*plugins: ActivePlugin) -> Work:
    """A Run to be planned with these plugins on one Pod."""
    host = Host(profiles_of(*plugins))
    host.pod("py-0")
    host.run("r1")
    host.observe()
    return host.take()


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
