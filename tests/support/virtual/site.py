"""A cluster in virtual time, and a scheduler on it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import ObjectTracker, SimulatedCluster
from virtual.time import InlinePlanner, VirtualClock, run_virtual
from virtual.transport import FaultyTransport

_BEAT_SECONDS = 5.0


class VirtualCluster(SimulatedCluster):
    """An API server in virtual time. Every Pod made by `pod` gets a heartbeat every 5 s."""

    def __init__(self) -> None:
        self.clock = VirtualClock(NOW)
        super().__init__(ObjectTracker(now=lambda: self.clock.now().wall))
        self.api = FaultyTransport(self.server.api)
        self._beating_task: asyncio.Task[None] | None = None

    def start_beating(self) -> None:
        """Let Pods send heartbeats from now on."""
        self._beating_task = asyncio.create_task(self._beat())

    def stop_beating(self) -> None:
        """Let no Pod send heartbeats any more."""
        if self._beating_task is not None:
            self._beating_task.cancel()

    async def passes(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)
        self._wall = self.clock.now().wall

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            self._wall = self.clock.now().wall
            self.beat_all()


def virtual_scheduler(**arguments: Any) -> Scheduler:
    """A scheduler in virtual time, which leads from the beginning unless the arguments say otherwise."""
    usual: dict[str, Any] = {
        "settings": Settings(),
        "random": Random(7),
        "plugin_worker": InlinePlanner(),
        "leadership": AlwaysLeading(),
    }
    return Scheduler(**usual | arguments)


class Site(VirtualCluster):
    """One server, one host."""

    def __init__(self, profiles: Profiles, **host: Any) -> None:
        super().__init__()
        self.lines = io.StringIO()
        log = Log(self.lines, self.clock, Level.TRACE)
        usual = {"profiles": profiles, "transport": self.api, "clock": self.clock, "log": log}
        self._arguments: dict[str, Any] = usual | host
        self.host = virtual_scheduler(**self._arguments)
        self.running: asyncio.Task[None] | None = None

    def succeed(self) -> None:
        """Put a host that knows nothing in the place of one that was stopped; it is still to start."""
        anew = {"plugin_worker": InlinePlanner(), "leadership": AlwaysLeading()}
        self.host = virtual_scheduler(**self._arguments | anew)

    def start(self) -> None:
        """Start the host, and the heartbeats."""
        self.running = asyncio.create_task(self.host.run())
        self.start_beating()

    async def passes(self, seconds: float) -> None:
        """Let virtual time pass. A host that ended with a defect raises it here."""
        await super().passes(seconds)
        if self.running is not None and self.running.done():
            self.running.result()

    async def end_host(self) -> None:
        """Stop the host cleanly."""
        self.host.stop()
        if self.running is not None:
            await self.running
        self.stop_beating()

    def why_not_ready(self) -> list[str]:
        """What keeps the host from being ready."""
        return [check.why for check in self.host.ready() if not check.holds]

    @property
    def log(self) -> str:
        """All log lines so far."""
        return self.lines.getvalue()


def play(profiles: Profiles, scene: Callable[[Site], Awaitable[None]], **host: Any) -> None:
    """Play a scene with a host that runs from its `start` to the end. host: arguments of `Scheduler`."""

    async def main() -> None:
        site = Site(profiles, **host)
        try:
            await scene(site)
        finally:
            await site.end_host()

    run_virtual(main())
