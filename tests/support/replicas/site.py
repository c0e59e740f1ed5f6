"""Replicas that follow, elect and bind, and short ways to make their lives hard."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count, groupby, pairwise
from typing import Any

from memoryapi.server import MemoryApi
from virtual.time import VirtualClock, run_virtual

from kruntimes_core.cluster.leader_election.elector import LeaseDurations
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import ApiServer
from kruntimes_core.testing.harness.world import World
from replicas.replica import Replica
from replicas.server import Leases, Server
from replicas.wire import Traffic

_BEAT_SECONDS = 5.0


class Site(World):
    """The cluster that they share."""

    def __init__(self, profiles: Profiles, durations: LeaseDurations | None = None) -> None:
        super().__init__(ApiServer())
        self.profiles = profiles
        self.durations = durations or LeaseDurations()
        self.clock = VirtualClock(NOW)
        self.api = MemoryApi(self.server)
        self.leases = Leases(self.clock)
        self.way = Server(self.api, self.leases)
        self.traffic = Traffic()
        self.replicas: list[Replica] = []
        self._beating_task = asyncio.create_task(self._beat())
        self._numbers = count(1)

    def replica(self, identity: str, skew_seconds: float = 0.0, **host: Any) -> Replica:
        """Start one. skew_seconds: how far its wall clock is ahead. host: arguments of `Host`."""
        started = Replica(
            identity, self.way, self.traffic, self.durations, skew_seconds, profiles=self.profiles, **host
        )
        self.replicas.append(started)
        return started

    async def pair(self) -> tuple[Replica, Replica]:
        """A leader and a standby."""
        first = self.replica("first")
        await self.passes(5)
        second = self.replica("second")
        await self.passes(1)
        assert (first.leading, second.leading) == (True, False)
        return first, second

    def more_runs(self, number: int) -> None:
        """Let more Runs come."""
        for _ in range(number):
            self.run(f"r{next(self._numbers):04}")

    async def passes(self, seconds: float) -> None:
        """Let virtual time pass. A replica that ended with a defect raises it here."""
        await asyncio.sleep(seconds)
        self._wall = self.clock.now().wall
        for one in self.replicas:
            if one.running.done() and not one.running.cancelled():
                one.running.result()

    async def until(self, holds: Callable[[], bool], seconds: float) -> float:
        """Let time pass until something holds; gives how long that took. Fails after `seconds`."""
        began = asyncio.get_running_loop().time()
        while not holds():
            passed = asyncio.get_running_loop().time() - began
            assert passed <= seconds, f"still not so after {seconds} s"
            await self.passes(0.01)
        return asyncio.get_running_loop().time() - began

    def leaders(self) -> list[str]:
        """Who leads now, as each knows itself."""
        return [one.identity for one in self.replicas if one.leading and not one.running.done()]

    def check(self) -> None:
        """Nothing oversold, nothing bound twice, and the binds of two terms never mixed."""
        assert self.traffic.broken == []
        terms = [key for key, _ in groupby((bind.replica, bind.term) for bind in self.traffic.binds)]
        assert len(terms) == len(set(terms)), terms

    def writes_of(self, identity: str, since: float = 0.0) -> list[float]:
        """When a replica handed over writes to Runs."""
        return [
            one.at
            for one in self.traffic.sent
            if one.replica == identity and one.what.plural == "runs" and one.at >= since
        ]

    def longest_without_lease_write(self, identity: str) -> float:
        """The longest time between two of its writes of the Lease."""
        times = [
            one.at for one in self.traffic.sent if one.replica == identity and one.what.plural == "leases"
        ]
        return max((after - before for before, after in pairwise(times)), default=0.0)

    async def end_all(self) -> None:
        """Stop all that still runs."""
        for one in self.replicas:
            if not one.running.done():
                one.wire.dead = one.lease_wire.dead = True
                await one.crash()
        self._beating_task.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            self._wall = self.clock.now().wall
            self.beat_all()


def play(
    profiles: Profiles, scene: Callable[[Site], Awaitable[None]], durations: LeaseDurations | None = None
) -> None:
    """Play a scene in virtual time, and check what holds in every history."""

    async def main() -> None:
        site = Site(profiles, durations)
        try:
            await scene(site)
        finally:
            await site.end_all()
        site.check()

    run_virtual(main())
