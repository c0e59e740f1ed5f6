"""A bench from its beginning to its end, whatever ends it."""

from __future__ import annotations

import gc
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import harmonic_mean

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
    keep_alive,
)
from kruntimes_core.lab.bench.live.load import BenchSettings, Mode
from kruntimes_core.lab.bench.live.results import Results, RoundResult, round_of
from kruntimes_core.lab.bench.live.round import Lateness, LoadRound, loading
from kruntimes_core.lab.bench.live.scheduler import (
    Running,
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
from kruntimes_core.lab.bench.objects import BENCH_LABEL
from kruntimes_core.model.messages import InputError, counted
from kruntimes_core.model.times import format_time

Tell = Callable[[str], None]
"""Takes a line on how it goes."""
_USER_AGENT = f"kruntimes-bench/{__version__}"
_CREATING = 64
"""Runs and Pods that are made at a time."""
_CONNECTIONS = 160
_ANY_NUMBER = 0
_NEVER_QUIET = "the scheduler writes on and on to Runs that wait: what follows is measured beside that"


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
        watch = BenchWatch(watching, clock, Random(), log, name)  # noqa: S311 - for jitter
        cluster = LoadedCluster(api, watch, settings.load, name)
        ceiling = Ceiling(cluster, watching, settings.ceiling_patches, settings.in_flight)
        async with _in_words(connection.server), _cleaned(cluster, settings.waits.namespaces, tell):
            return await _Bench(settings, cluster, ceiling, folder, tell).run(connection.server)


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
    """A server that is lost in the middle is no defect of the bench."""
    try:
        yield
    except TransportError as error:
        raise InputError(
            f"the connection to the API server {server} was lost: {error}: check that it still runs"
        ) from error


@asynccontextmanager
async def _cleaned(cluster: LoadedCluster, seconds: float, tell: Tell) -> AsyncIterator[None]:
    """However the block ends, what was made is taken away. seconds: see `remove_everything`."""
    try:
        yield
    finally:
        try:
            left = await cluster.remove_everything(seconds)
        except (InputError, TransportError) as error:
            tell(f"cannot clean up: {error}: kubectl delete namespaces -l {BENCH_LABEL}={cluster.bench}")
        else:
            if left:
                tell(
                    f"no controller ends the deletion of these namespaces, which are empty: {', '.join(left)}"
                )


class _Bench:
    """The ceiling, a round, the ceiling, a round, ... and the ceiling."""

    def __init__(
        self, settings: BenchSettings, cluster: LoadedCluster, ceiling: Ceiling, folder: Path, tell: Tell
    ) -> None:
        self._settings = settings
        self._cluster = cluster
        self._ceiling = ceiling
        self._folder = folder
        self._tell = tell
        self._lateness = Lateness()
        self._command: list[str] = []
        self._kubeconfig: str | None = None
        self._scheduler: Running | None = None
        self._samples: list[list[float]] = []
        self._rounds: list[RoundResult] = []

    async def run(self, server: str) -> Results:
        """All rounds, and what came out of them.

        Raises `InputError` if the scheduler ends, or does not place at all.
        """
        settings, cluster = self._settings, self._cluster
        started_at, load_average = format_time(datetime.now(UTC)), os.getloadavg()[0]
        heartbeats = [keep_alive(cluster)] if settings.load.heartbeat_seconds else []
        async with beside([*cluster.watch.tasks(), self._lateness.watch(), *heartbeats]):
            await cluster.watch.started()
            await cluster.open()
            if not settings.external:
                self._choose_command()
            await self._prepare()
            await self._measure_ceiling()
            try:
                for number in range(1, settings.repeat + 1):
                    await self._measure_round(number)
            finally:
                gc.unfreeze()
        return Results(
            bench=cluster.bench,
            started_at=started_at,
            server=server,
            version=await version_of(cluster.api),
            processors=os.cpu_count() or 1,
            load_average=load_average,
            command=self._command or None,
            pid=settings.pid,
            load=settings.load,
            in_flight=settings.in_flight,
            rounds=self._rounds,
            ceiling=self._samples,
            violations=cluster.watch.violations(cluster.api.own_versions),
            gaps=cluster.watch.gaps,
        )

    def _choose_command(self) -> None:
        settings, namespaces = self._settings, self._cluster.namespaces
        if settings.kubeconfig or settings.context or not in_cluster(os.environ):
            self._kubeconfig = kubeconfig_for(settings.kubeconfig, settings.context, os.environ, self._folder)
        if settings.command is not None:
            self._command = command_of(settings.command, self._kubeconfig, namespaces)
        else:
            steady = not settings.load.heartbeat_seconds
            self._command = our_command(
                self._kubeconfig, namespaces, settings.config, self._folder, steady=steady
            )

    @property
    def _pods_come_last(self) -> bool:
        """Whether Runs of a scheduler that runs already wait because there is no Pod yet."""
        return self._settings.external and self._settings.load.mode is Mode.DRAIN

    async def _prepare(self) -> None:
        external = self._settings.external
        if not self._pods_come_last:
            await self._cluster.add_pods()
            if external:
                await self._wait_until_ready()
            elif await self._cluster.is_probe_placed(self._settings.waits.other_scheduler):
                raise InputError(
                    "a scheduler that the bench did not start places Runs on this server: stop it, or measure"
                    " it with --no-scheduler or --scheduler-pid PID"
                )
        await add_background(self._cluster, scheduled=external)
        await self._ceiling.prepare()

    async def _measure_ceiling(self) -> None:
        samples = await self._ceiling.measure(alone=not self._settings.external)
        self._samples.append(samples)
        self._tell(f"the API server takes {harmonic_mean(samples):.0f} bare patches a second")

    async def _measure_round(self, number: int) -> None:
        """A round, the ceiling after it, and their figures."""
        gc.collect()
        # What is known by now is not looked through again and again while times are taken.
        gc.freeze()
        self._lateness.take()
        self._tell(f"round {number} of {self._settings.repeat}")
        if self._settings.load.mode is not Mode.DRAIN:
            round_ = await self._arrivals(number)
        else:
            round_ = await (self._pods_last(number) if self._pods_come_last else self._drain(number))
        late_seconds = self._lateness.take()
        await self._measure_ceiling()
        result = round_of(
            number,
            round_,
            waited=self._settings.load.mode is Mode.DRAIN,
            own_versions=self._cluster.api.own_versions,
            ceiling=[rate for samples in self._samples[-2:] for rate in samples],
            in_flight=self._settings.in_flight,
            late_seconds=late_seconds,
        )
        self._rounds.append(result)
        per_second = result.figures["perSecond"]
        rate = f"{per_second:.0f} a second" if per_second is not None else "no rate"
        self._tell(f"placed {result.placed} of {counted(result.expected, 'Run')}, {rate}")

    async def _drain(self, number: int) -> LoadRound:
        async with loading(self._cluster, number, self._settings.patience_seconds) as round_:
            await round_.create()
            round_.release(self._usage)
            async with self._running():
                await round_.follow()
        return round_

    async def _pods_last(self, number: int) -> LoadRound:
        async with loading(self._cluster, number, self._settings.patience_seconds) as round_:
            await round_.create()
            await self._quiet()
            round_.release(self._usage)
            await self._cluster.add_pods()
            await round_.follow()
        await self._cluster.remove_pods()
        return round_

    async def _arrivals(self, number: int) -> LoadRound:
        async with self._running():
            if not self._settings.external:
                await self._wait_until_ready()
            async with loading(self._cluster, number, self._settings.patience_seconds) as round_:
                round_.release(self._usage)
                await round_.create()
                await round_.follow()
        return round_

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """The scheduler runs; if it ends before the block does, that fails."""
        if self._settings.external:
            yield
            return
        log = self._folder / "scheduler.log"
        try:
            async with (
                running(self._command, self._kubeconfig, log) as self._scheduler,
                beside([self._scheduler.ended()]),
            ):
                yield
                # What a scheduler writes after the last placement is judged too.
                await self._quiet()
        finally:
            self._scheduler = None

    async def _wait_until_ready(self) -> None:
        """Wait until a Run is placed, and then until nothing more is written to those that wait."""
        seconds = self._settings.patience_seconds
        if not await self._cluster.is_probe_placed(seconds):
            raise InputError(
                f"nothing placed a Run within {seconds:g} s: does the scheduler run, and on this server?"
            )
        await self._quiet()

    async def _quiet(self) -> None:
        waits = self._settings.waits
        if not await self._cluster.watch.quiet(waits.quiet, waits.longest_quiet):
            self._tell(_NEVER_QUIET)

    def _usage(self) -> Usage | None:
        """What the scheduler has used so far."""
        if self._settings.external:
            return usage_of(self._settings.pid) if self._settings.pid is not None else None
        return self._scheduler.usage() if self._scheduler is not None else Usage(0.0, 0, 0)
