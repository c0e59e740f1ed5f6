"""One of the schedulers that share a cluster, as a process that may stop or be killed."""

from __future__ import annotations

import asyncio
import io
from datetime import timedelta
from random import Random
from typing import Any

from virtual.planning import InlinePlanner
from virtual.time import VirtualClock

from kruntimes_core.cluster.leader_election.elector import (
    LeaderElector,
    LeaseDurations,
    LeaseTerm,
    register_election_metrics,
)
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.testing.builders import NOW
from replicas.server import NAMESPACE, Server
from replicas.wire import Traffic, Wire


class Replica:
    """One scheduler process."""

    def __init__(
        self,
        identity: str,
        way: Server,
        traffic: Traffic,
        durations: LeaseDurations,
        skew_seconds: float,
        **host: Any,
    ) -> None:
        """skew_seconds: how far its wall clock is ahead. host: arguments of `Scheduler`."""
        self.identity = identity
        self.clock = VirtualClock(NOW + timedelta(seconds=skew_seconds))
        self.term = LeaseTerm(clock=self.clock, durations=durations)
        self.lines = io.StringIO()
        log = Log(self.lines, self.clock, Level.TRACE)
        self.wire = Wire(identity, way, traffic, lambda: self.elector.terms, self.term.lasts)
        self.lease_wire = Wire(identity, way, traffic, lambda: self.elector.terms, None)
        self.elector = LeaderElector(
            transport=self.lease_wire,
            clock=self.clock,
            log=log,
            term=self.term,
            namespace=NAMESPACE,
            identity=identity,
        )
        arguments: dict[str, Any] = {
            "settings": Settings(),
            "transport": self.wire,
            "clock": self.clock,
            "random": Random(7),
            "plugin_worker": InlinePlanner(),
            "leadership": self.elector,
            "log": log,
        }
        self.host = Scheduler(**arguments | host)
        register_election_metrics(self.host.metrics, self.elector)
        self.running = asyncio.create_task(self.host.run())

    @property
    def leading(self) -> bool:
        """Whether it leads, as it knows itself."""
        return self.elector.leading

    @property
    def log(self) -> str:
        """All log lines so far."""
        return self.lines.getvalue()

    def why_not_ready(self) -> list[str]:
        """What keeps it from being ready."""
        return [check.why for check in self.host.ready() if not check.holds]

    async def stop(self) -> None:
        """SIGTERM, and what follows."""
        self.host.stop()
        await self.running

    async def crash(self) -> None:
        """SIGKILL: nothing leaves it any more; what it had handed over goes on."""
        self.wire.dead = self.lease_wire.dead = True
        self.running.cancel()
        await asyncio.wait([self.running])
