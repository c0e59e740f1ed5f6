"""From the command line to a scheduler, on connections that end with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from kruntimes_core import __version__
from kruntimes_core.cli.scheduler.announcing import event_sink
from kruntimes_core.cli.scheduler.electing import durations_of, election
from kruntimes_core.cli.scheduler.options import SchedulerOptions
from kruntimes_core.cluster.client.connection import Connection, try_connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import Gate
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.recorder import EventSettings
from kruntimes_core.cluster.leader_election.elector import LeaderElector, show_election
from kruntimes_core.cluster.leader_election.lease_term import LeaseTerm
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.permissions import MissingPermissions
from kruntimes_core.cluster.plugin_worker.worker import ThreadPluginWorker
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
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
async def scheduler_of(
    asked: Asked, connection: Connection, clock: Clock, log: Log
) -> AsyncIterator[Scheduler]:
    """The scheduler that was asked for. Raises `InputError` for a server that cannot be used."""
    options, configuration = asked.options, asked.configuration
    term = LeaseTerm(clock=clock, durations=durations_of(options))
    rights = MissingPermissions(clock, log)
    async with election(options, connection, clock, log, term, rights) as elector:
        gate = _gate(options, elector, term)
        async with (
            _transport(asked, connection, gate) as transport,
            event_sink(options, EventSettings.of(configuration), connection, elector, gate) as events,
        ):
            await try_connection(transport, connection, clock)
            scheduler = Scheduler(
                profiles=asked.profiles,
                settings=Settings.of(configuration),
                transport=transport,
                clock=clock,
                random=Random(),  # noqa: S311 - for jitter
                plugin_worker=ThreadPluginWorker(log),
                leadership=elector or AlwaysLeading(),
                log=log,
                namespaces=options.namespaces or None,
                permissions=rights,
                in_flight=configuration.requests_in_flight,
                events=events,
                dry_run=DryRunSettings() if options.dry_run else None,
            )
            if elector is not None:
                show_election(scheduler.metrics, elector)
            yield scheduler


def _gate(options: SchedulerOptions, elector: LeaderElector | None, term: LeaseTerm) -> Gate | None:
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
