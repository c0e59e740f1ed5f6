"""A bench from its beginning to its end, whatever ends it."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.cluster.client.connection import connect, in_cluster, try_connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import TransportError
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.bench.live.api import Api
from kruntimes_core.lab.bench.live.made.clearing import remove_everything
from kruntimes_core.lab.bench.live.made.objects import BENCH_LABEL
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.observing.observer import Observer
from kruntimes_core.lab.bench.live.report.results import Machine, Results
from kruntimes_core.lab.bench.live.rounds.ceiling import Ceiling
from kruntimes_core.lab.bench.live.rounds.heartbeats import keep_alive
from kruntimes_core.lab.bench.live.rounds.lateness import Lateness
from kruntimes_core.lab.bench.live.rounds.plan import Rounds
from kruntimes_core.lab.bench.live.scheduler.command import (
    Surroundings,
    check_command,
    check_configuration,
    command_of,
    our_command,
)
from kruntimes_core.lab.bench.live.scheduler.kubeconfig import kubeconfig_for
from kruntimes_core.lab.bench.live.scheduler.process import Running, running
from kruntimes_core.lab.bench.live.scheduler.usage import check_process
from kruntimes_core.lab.bench.live.server import check_crds, check_loopback, version_of
from kruntimes_core.lab.bench.live.settings import Settings
from kruntimes_core.lab.bench.live.tasks import beside
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.times import format_time

Tell = Callable[[str], None]
"""Takes a line on how it goes."""
_USER_AGENT = f"kruntimes-bench/{__version__}"
_CREATING = 64
"""Runs and Pods that are made at a time."""
_CONNECTIONS = 160
_ANY_NUMBER = 0


async def measure(settings: Settings, folder: Path, tell: Tell, log: Log) -> Results:
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
        observer = Observer(watching, clock, Random(), log, name)  # noqa: S311 - for jitter
        site = Site(api, observer, settings.load, name)
        async with _in_words(connection.server), _cleaned(site, settings.waits.namespaces, tell):
            return await _Bench(settings, site, folder, tell).run(
                Ceiling(site, watching, settings.ceiling_patches, settings.in_flight), connection.server
            )


def _check(settings: Settings) -> None:
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
async def _cleaned(site: Site, seconds: float, tell: Tell) -> AsyncIterator[None]:
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

    def __init__(self, settings: Settings, site: Site, folder: Path, tell: Tell) -> None:
        self._settings = settings
        self._site = site
        self._folder = folder
        self._tell = tell
        self._command: list[str] | None = None
        self._kubeconfig: str | None = None

    async def run(self, ceiling: Ceiling, server: str) -> Results:
        """All rounds, and what came out of them."""
        started_at, machine = format_time(datetime.now(UTC)), Machine.now()
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
