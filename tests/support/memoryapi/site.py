"""A host in virtual time on an API server in memory, and short ways to change that server's objects."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from virtual.planning import InlinePlanner
from virtual.time import VirtualClock, run_virtual

from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import ApiServer
from kruntimes_core.testing.harness.world import World
from memoryapi.server import MemoryApi

_BEAT_SECONDS = 5.0


class Site(World):
    """One server, one host. Every Pod made by `pod` gets a heartbeat each 5 s of virtual time."""

    def __init__(self, profiles: Profiles, **host: Any) -> None:
        super().__init__(ApiServer())
        self.clock = VirtualClock(NOW)
        self.api = MemoryApi(self.server)
        self.lines = io.StringIO()
        log = Log(self.lines, self.clock, Level.TRACE)
        arguments: dict[str, Any] = {
            "profiles": profiles,
            "settings": Settings(),
            "transport": self.api,
            "clock": self.clock,
            "random": Random(7),
            "plugin_worker": InlinePlanner(),
            "leadership": AlwaysLeading(),
            "log": log,
        }
        self._arguments = arguments | host
        self.host = Scheduler(**self._arguments)
        self.running: asyncio.Task[None] | None = None
        self._beating_task: asyncio.Task[None] | None = None

    def succeed(self) -> None:
        """Put a host that knows nothing in the place of one that was stopped; it is still to start."""
        self.host = Scheduler(
            **self._arguments | {"plugin_worker": InlinePlanner(), "leadership": AlwaysLeading()}
        )

    def start(self) -> None:
        """Start the host, and the heartbeats."""
        self.running = asyncio.create_task(self.host.run())
        self._beating_task = asyncio.create_task(self._beat())

    async def passes(self, seconds: float) -> None:
        """Let virtual time pass. A host that ended with a defect raises it here."""
        await asyncio.sleep(seconds)
        self._wall = self.clock.now().wall
        if self.running is not None and self.running.done():
            self.running.result()

    async def end_host(self) -> None:
        """Stop the host cleanly."""
        self.host.stop()
        if self.running is not None:
            await self.running
        if self._beating_task is not None:
            self._beating_task.cancel()

    def why_not_ready(self) -> list[str]:
        """What keeps the host from being ready."""
        return [check.why for check in self.host.ready() if not check.holds]

    @property
    def log(self) -> str:
        """All log lines so far."""
        return self.lines.getvalue()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            self._wall = self.clock.now().wall
            self.beat_all()


def play(profiles: Profiles, scene: Callable[[Site], Awaitable[None]], **host: Any) -> None:
    """Play a scene with a host that runs from its `start` to the scene's end. host: arguments of `Host`."""

    async def main() -> None:
        site = Site(profiles, **host)
        try:
            await scene(site)
        finally:
            await site.end_host()

    run_virtual(main())
