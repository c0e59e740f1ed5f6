"""A development cluster in one process; its parts speak HTTP with each other, over loopback."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random

from kruntimes_core import __version__
from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.event_recorder.recorder import EventSettings, events_to
from kruntimes_core.cluster.leader_election.lease_lock import new_identity
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer
from kruntimes_core.lab.dev.overview import RunCounts
from kruntimes_core.lab.dev.workload import NAMESPACE, Arrival, feed, runtime
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.simulated_runtimes import SimulatedRuntimes
from kruntimes_core.model.messages import InputError

_IN_FLIGHT = 32
_SPARE_CONNECTIONS = 8
_LOOK_SECONDS = 0.5


class _NoCredentials:
    """For a server that asks for none."""

    async def authorization(self) -> str | None:
        """None."""
        return None

    async def renew(self) -> None:
        """There is nothing to renew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSettings:
    """What a development cluster starts with."""

    runtimes: tuple[str, ...]
    pods: int
    """Pods of each Runtime."""
    capacity: Mapping[str, str]
    """What each Pod advertises: resource to quantity."""
    behaviour: Behaviour
    port: int
    """0 for any free port."""
    stall_seconds: float = 10.0
    """For how long all Runs may wait, until a cluster that is to end with its Runs gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevScheduling:
    """What places the Runs: the profiles, the worker that has built them, and the settings of the rest."""

    profiles: Profiles
    plugin_worker: PluginWorker
    engine: Settings
    events: EventSettings


class DevCluster:
    """A cluster whose API is served, and whose Runs are placed and executed while `run` runs."""

    def __init__(
        self,
        server: EmbeddedServer,
        scheduler: Scheduler,
        runtimes: SimulatedRuntimes,
        counts: RunCounts,
        stall_seconds: float,
    ) -> None:
        self.server = server
        self.scheduler = scheduler
        self.counts = counts
        self.stalled = False
        """Whether it ended because all Runs waited for too long."""
        self._stall_seconds = stall_seconds
        self.all_arrived = False
        """Whether every object of the workload was created."""
        self._runtimes = runtimes

    @property
    def finished(self) -> bool:
        """Whether all of the workload arrived, and every Run has ended."""
        return self.all_arrived and not self.counts.unfinished

    def stop(self) -> None:
        """End `run`: no new cycle begins, and binds in flight settle."""
        self.scheduler.stop()

    async def run(self, arrivals: Iterable[Arrival], *, exit_when_done: bool) -> None:
        """Work until `stop`, or (exit_when_done) until every Run has ended, or all wait for too long.

        A defect in any part ends it.
        """
        async with asyncio.TaskGroup() as group:
            beside = [group.create_task(self._runtimes.run()), group.create_task(self._feed(arrivals))]
            if exit_when_done:
                self.server.api.observers.append(lambda _: self._stop_when_done())
                beside.append(group.create_task(self._stop_when_stalled()))
            await self.scheduler.run()
            for task in beside:
                task.cancel()

    async def _feed(self, arrivals: Iterable[Arrival]) -> None:
        await feed(self.server.api, arrivals)
        self.all_arrived = True

    def _stop_when_done(self) -> None:
        if self.finished:
            self.stop()

    async def _stop_when_stalled(self) -> None:
        while not (self.all_arrived and self.counts.stalled_seconds() >= self._stall_seconds):
            await asyncio.sleep(_LOOK_SECONDS)
        self.stalled = True
        self.stop()


@asynccontextmanager
async def dev_cluster(
    settings: DevSettings, placing: DevScheduling, clock: Clock, log: Log
) -> AsyncIterator[DevCluster]:
    """Serve a cluster with its Runtimes. Raises `InputError` for a port that cannot be used."""
    server, counts = EmbeddedServer(port=settings.port, log=log), RunCounts(clock)
    server.api.observers.append(counts.note)
    random = Random(settings.behaviour.seed)  # noqa: S311 - for jitter
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except OSError as error:
            why = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
            where = f"127.0.0.1:{settings.port}"
            raise InputError(f"cannot listen on {where}: {why}: choose another --port") from error
        transports = [await stack.enter_async_context(_transport(server)) for _ in range(3)]
        for_scheduler, for_events, for_pods = transports
        scheduler = Scheduler(
            profiles=placing.profiles,
            settings=placing.engine,
            transport=for_scheduler,
            clock=clock,
            random=random,
            plugin_worker=placing.plugin_worker,
            leadership=AlwaysLeading(),
            log=log,
            in_flight=_IN_FLIGHT,
            events=events_to(for_events, new_identity(), placing.events),
        )
        runtimes = SimulatedRuntimes(
            behaviour=settings.behaviour, transport=for_pods, clock=clock, random=random, log=log
        )
        _create_runtimes(server, settings)
        yield DevCluster(server, scheduler, runtimes, counts, settings.stall_seconds)


def _create_runtimes(server: EmbeddedServer, settings: DevSettings) -> None:
    resource = server.api.resources.named("runtimes")
    for name in settings.runtimes:
        server.api.create(resource, NAMESPACE, runtime(name, settings.pods, settings.capacity))


def _transport(server: EmbeddedServer) -> HttpTransport:
    return HttpTransport(
        Connection(server=server.url, credentials=_NoCredentials(), origin="kruntimes dev"),
        user_agent=f"kruntimes-dev/{__version__}",
        connections=_IN_FLIGHT + _SPARE_CONNECTIONS,
    )
