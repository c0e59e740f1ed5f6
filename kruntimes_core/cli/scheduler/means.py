"""From what was asked for to all that a host needs of the world, on connections that end with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from kruntimes_core import __version__
from kruntimes_core.cli.scheduler.announcing import event_sink
from kruntimes_core.cli.scheduler.electing import election
from kruntimes_core.cli.scheduler.options import SchedulerOptions
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.connection.opening import try_connection
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.recorder import EventSettings
from kruntimes_core.cluster.host.leadership import Always
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.leading.elector import Elector
from kruntimes_core.cluster.leading.term import Term
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.planning.worker import WorkerPlanner
from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.transport.http import HttpTransport
from kruntimes_core.cluster.transport.protocol import Gate
from kruntimes_core.engine.settings import Settings
from kruntimes_core.framework.configuration import Configuration, Profiles

_STREAMS_A_NAMESPACE = 3
_SPARE_CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What a scheduler was started with, read and checked."""

    options: SchedulerOptions
    configuration: Configuration
    profiles: Profiles


@asynccontextmanager
async def means_of(asked: Asked, connection: Connection, clock: Clock, log: Log) -> AsyncIterator[Means]:
    """What a host is made with. Raises `InputError` for a server that cannot be used."""
    options, configuration = asked.options, asked.configuration
    term, rights = Term(clock), MissingRights(clock, log)
    async with election(options, connection, clock, log, term, rights) as elector:
        gate = _gate(options, elector, term)
        async with (
            _transport(asked, connection, gate) as transport,
            event_sink(options, EventSettings.of(configuration), connection, elector, gate) as events,
        ):
            await try_connection(transport, connection, clock)
            yield Means(
                profiles=asked.profiles,
                settings=Settings.of(configuration),
                transport=transport,
                clock=clock,
                random=Random(),  # noqa: S311 - for jitter
                planner=WorkerPlanner(log),
                leadership=elector or Always(),
                log=log,
                namespaces=options.namespaces or None,
                rights=rights,
                in_flight=configuration.requests_in_flight,
                events=events,
                dry_run=DryRunSettings() if options.dry_run else None,
            )


def _gate(options: SchedulerOptions, elector: Elector | None, term: Term) -> Gate | None:
    """What is asked before the body of a request leaves. A dry run sends none, whoever might want to."""
    if options.dry_run:
        return lambda: False
    return term.lasts if elector is not None else None


def _transport(asked: Asked, connection: Connection, gate: Gate | None) -> HttpTransport:
    streams = _STREAMS_A_NAMESPACE * max(len(asked.options.namespaces), 1)
    return HttpTransport(
        connection,
        user_agent=f"kruntimes-scheduler/{__version__}",
        connections=asked.configuration.requests_in_flight + streams + _SPARE_CONNECTIONS,
        gate=gate,
    )
