"""A bench from its beginning to its end, whatever ends it."""

from __future__ import annotations

import gc
import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import harmonic_mean
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.cluster.client.connection import connect, in_cluster, try_connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import TransportError
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.bench.live.api import Api, beside, check_crds, check_loopback, version_of
from kruntimes_core.lab.bench.live.ceiling import Ceiling
from kruntimes_core.lab.bench.live.cluster import (
    LoadedCluster,
    add_background,
    check_nobody_else,
    keep_alive,
    remove_everything,
    remove_pods,
    wait_until_ready,
)
from kruntimes_core.lab.bench.live.load import BenchSettings, Mode
from kruntimes_core.lab.bench.live.objects import BENCH_LABEL
from kruntimes_core.lab.bench.live.results import MachineInfo, Results, RoundResult, round_of
from kruntimes_core.lab.bench.live.round import Book, Lateness, loading
from kruntimes_core.lab.bench.live.scheduler import (
    Running,
    Surroundings,
    Usage,
    check_command,
    check_configuration,
    check_process,
    command_of,
    kubeconfig_for,
    our_command,
    running,
    usage_of,
)
from kruntimes_core.lab.bench.live.watch import BenchWatch
from kruntimes_core.model.messages import InputError, counted
from kruntimes_core.model.times import format_time

Start = Callable[[], AbstractAsyncContextManager[Running]]
"""Starts the scheduler, for as long as a block lasts."""
_NOTHING = Usage(0.0, 0, 0)
_NEVER_QUIET = "the scheduler writes on and on to Runs that wait: what follows is measured beside that"


class Rounds:
    """Loads a scheduler several times, with the ceiling in between."""

    def __init__(
        self,
        site: LoadedCluster,
        settings: BenchSettings,
        ceiling: Ceiling,
        lateness: Lateness,
        start: Start,
        tell: Callable[[str], None],
    ) -> None:
        """start: of the scheduler, unless it runs already. tell: takes a line on how it goes."""
        self._site = site
        self._settings = settings
        self._ceiling = ceiling
        self._lateness = lateness
        self._start = start
        self._tell = tell
        self._scheduler: Running | None = None
        self.samples: list[list[float]] = []
        """Each measurement of the ceiling."""
        self.rounds: list[RoundResult] = []

    async def run(self) -> None:
        """All of it. Raises `InputError` if the scheduler ends, or does not place at all."""
        await self._prepare()
        await self._measure_ceiling()
        for number in range(1, self._settings.repeat + 1):
            gc.collect()
            # What is known by now is not looked through again and again while times are taken.
            gc.freeze()
            self._lateness.take()
            book = await self._round(number)
            late = self._lateness.take()
            await self._measure_ceiling()
            self._note(number, book, late)

    # Inside

    @property
    def _pods_come_last(self) -> bool:
        """Whether Runs of a scheduler that runs already wait because there is no Pod yet."""
        return self._settings.external and self._settings.load.mode is Mode.DRAIN

    async def _prepare(self) -> None:
        external = self._settings.external
        if not self._pods_come_last:
            await self._site.add_pods()
            if external:
                await self._wait_until_ready()
            else:
                await check_nobody_else(self._site, self._settings.waits.nobody)
        await add_background(self._site, scheduled=external)
        await self._ceiling.prepare()

    async def _measure_ceiling(self) -> None:
        samples = await self._ceiling.measure(alone=not self._settings.external)
        self.samples.append(samples)
        self._tell(f"the API server takes {harmonic_mean(samples):.0f} bare patches a second")

    async def _round(self, number: int) -> Book:
        self._tell(f"round {number} of {self._settings.repeat}")
        if self._settings.load.mode is not Mode.DRAIN:
            return await self._arrivals(number)
        return await (self._pods_last(number) if self._pods_come_last else self._drain(number))

    async def _drain(self, number: int) -> Book:
        async with loading(self._site, number, self._settings.patience_seconds) as load:
            await load.create()
            load.release(self._usage)
            async with self._running():
                await load.follow()
        return load.book

    async def _pods_last(self, number: int) -> Book:
        async with loading(self._site, number, self._settings.patience_seconds) as load:
            await load.create()
            await self._quiet()
            load.release(self._usage)
            await self._site.add_pods()
            await load.follow()
        await remove_pods(self._site)
        return load.book

    async def _arrivals(self, number: int) -> Book:
        async with self._running():
            if not self._settings.external:
                await self._wait_until_ready()
            async with loading(self._site, number, self._settings.patience_seconds) as load:
                load.release(self._usage)
                await load.create()
                await load.follow()
        return load.book

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """The scheduler runs; if it ends before the block does, that fails."""
        if self._settings.external:
            yield
            return
        try:
            async with self._start() as self._scheduler, beside([self._scheduler.ended()]):
                yield
                # What a scheduler writes after the last placement is judged too.
                await self._quiet()
        finally:
            self._scheduler = None

    async def _wait_until_ready(self) -> None:
        if not await wait_until_ready(self._site, self._settings.patience_seconds, self._settings.waits):
            self._tell(_NEVER_QUIET)

    async def _quiet(self) -> None:
        waits = self._settings.waits
        if not await self._site.observer.quiet(waits.quiet, waits.longest_quiet):
            self._tell(_NEVER_QUIET)

    def _usage(self) -> Usage | None:
        """What the scheduler has used so far."""
        if self._settings.external:
            return usage_of(self._settings.pid) if self._settings.pid is not None else None
        return self._scheduler.usage() if self._scheduler is not None else _NOTHING

    def _note(self, number: int, book: Book, late_seconds: float) -> None:
        round_ = round_of(
            number,
            book,
            waited=self._settings.load.mode is Mode.DRAIN,
            own_versions=self._site.api.own_versions,
            ceiling=[rate for samples in self.samples[-2:] for rate in samples],
            in_flight=self._settings.in_flight,
            late_seconds=late_seconds,
        )
        self.rounds.append(round_)
        rate = f"{round_.rate:.0f} a second" if round_.rate is not None else "no rate"
        self._tell(f"placed {round_.placed} of {counted(round_.expected, 'Run')}, {rate}")


Tell = Callable[[str], None]
"""Takes a line on how it goes."""
_USER_AGENT = f"kruntimes-bench/{__version__}"
_CREATING = 64
"""Runs and Pods that are made at a time."""
_CONNECTIONS = 160
_ANY_NUMBER = 0


async def measure(settings: BenchSettings, folder: Path, tell: Tell, log: Log) -> Results:
    """Load a scheduler as asked, and clean up.

    folder: for what is written meanwhile. tell: takes a line on how it goes. log: takes what goes wrong on
    watches. Raises `InputError` for whatever keeps it from measuring.
    """
    _check(settings)
    clock, name = SystemClock(), secrets.token_hex(4)
    connection = await connect(settings.kubeconfig, settings.context, os.environ, clock)
    if not settings.anywhere:
        check_loopback(connection)
    async with (
        HttpTransport(connection, user_agent=_USER_AGENT, connections=_CONNECTIONS) as transport,
        HttpTransport(connection, user_agent=_USER_AGENT, connections=_ANY_NUMBER) as watching,
    ):
        await try_connection(transport, connection, clock)
        api = Api(transport, _CREATING)
        await check_crds(api)
        observer = BenchWatch(watching, clock, Random(), log, name)  # noqa: S311 - for jitter
        site = LoadedCluster(api, observer, settings.load, name)
        async with _in_words(connection.server), _cleaned(site, settings.waits.namespaces, tell):
            return await _Bench(settings, site, folder, tell).run(
                Ceiling(site, watching, settings.ceiling_patches, settings.in_flight), connection.server
            )


def _check(settings: BenchSettings) -> None:
    """Raises `InputError` for what can be told to be wrong before anything is made in a cluster."""
    settings.load.check()
    if settings.command is not None:
        check_command(settings.command)
    if settings.config is not None:
        check_configuration(settings.config)
    if settings.pid is not None:
        check_process(settings.pid)


@asynccontextmanager
async def _in_words(server: str) -> AsyncIterator[None]:
    """A server that is lost in the middle is nobody's mistake in here."""
    try:
        yield
    except TransportError as error:
        raise InputError(f"the API server {server} was lost in the middle: {error}: is it up?") from error


@asynccontextmanager
async def _cleaned(site: LoadedCluster, seconds: float, tell: Tell) -> AsyncIterator[None]:
    """However the block ends, what was made is taken away. seconds: see `remove_everything`."""
    try:
        yield
    finally:
        try:
            left = await remove_everything(site, seconds)
        except (InputError, TransportError) as error:
            tell(f"cannot clean up: {error}: kubectl delete namespaces -l {BENCH_LABEL}={site.bench}")
        else:
            if left:
                tell(f"nobody here ends the deletion of namespaces; these are empty: {', '.join(left)}")


class _Bench:
    """What happens while the cluster has the bench's objects."""

    def __init__(self, settings: BenchSettings, site: LoadedCluster, folder: Path, tell: Tell) -> None:
        self._settings = settings
        self._site = site
        self._folder = folder
        self._tell = tell
        self._command: list[str] | None = None
        self._kubeconfig: str | None = None

    async def run(self, ceiling: Ceiling, server: str) -> Results:
        """All rounds, and what came out of them."""
        started_at, machine = format_time(datetime.now(UTC)), MachineInfo.now()
        lateness = Lateness()
        rounds = Rounds(self._site, self._settings, ceiling, lateness, self._start, self._tell)
        async with beside([*self._site.observer.tasks(), lateness.watch(), *self._heartbeats()]):
            await self._site.observer.started()
            await self._site.open()
            self._choose_command()
            await rounds.run()
        observer = self._site.observer
        return Results(
            bench=self._site.bench,
            started_at=started_at,
            server=server,
            version=await version_of(self._site.api),
            machine=machine,
            command=self._command,
            pid=self._settings.pid,
            load=self._settings.load,
            in_flight=self._settings.in_flight,
            rounds=rounds.rounds,
            ceiling=rounds.samples,
            violations=observer.violations(self._site.api.own_versions),
            gaps=observer.gaps,
        )

    def _heartbeats(self) -> list[Coroutine[Any, Any, None]]:
        return [keep_alive(self._site)] if self._settings.load.heartbeat_seconds else []

    def _choose_command(self) -> None:
        settings = self._settings
        if settings.external:
            return
        if settings.kubeconfig or settings.context or not in_cluster(os.environ):
            self._kubeconfig = kubeconfig_for(settings.kubeconfig, settings.context, os.environ, self._folder)
        around = Surroundings(self._kubeconfig, self._site.namespaces)
        if settings.command is not None:
            self._command = command_of(settings.command, around)
        else:
            steady = not settings.load.heartbeat_seconds
            self._command = our_command(around, settings.config, self._folder, steady=steady)

    def _start(self) -> AbstractAsyncContextManager[Running]:
        if self._command is None:
            raise ValueError("the scheduler runs already")
        return running(self._command, self._kubeconfig, self._folder / "scheduler.log")
