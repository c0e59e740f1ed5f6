"""Assembles a scheduler from the command line, on connections that are closed when it ends."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random

from kruntimes_core import __version__
from kruntimes_core.cli.commands import require_descriptors
from kruntimes_core.cli.scheduler.command import SchedulerOptions
from kruntimes_core.cluster.client.connection import Connection, try_connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import Gate
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.recorder import EventSettings, events_to
from kruntimes_core.cluster.leader_election.elector import (
    LeaderElector,
    LeaseDurations,
    LeaseTerm,
    register_election_metrics,
)
from kruntimes_core.cluster.leader_election.lease_lock import lease_namespace, new_identity
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.http_server import CONNECTIONS
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.permissions import MissingPermissions, PermissionTransport
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Configuration, Profiles

_USER_AGENT = f"kruntimes-scheduler/{__version__}"
_STREAMS_A_NAMESPACE = 3
_SPARE_CONNECTIONS = 4
_LEASE_CONNECTIONS = 2
"""One for the renewal, one for the next renewal while the first is given up."""
_EVENT_CONNECTIONS = 1
"""Events are sent one after the other, and no bind waits for this connection."""
_OTHER_DESCRIPTORS = 48
"""Standard streams, the loop, listening sockets, and files that plugins open."""
_PORTS = 3


@dataclass(frozen=True, slots=True)
class SchedulerArguments:
    """What a scheduler is started with, read and checked."""

    options: SchedulerOptions
    configuration: Configuration
    profiles: Profiles
    plugin_worker: ThreadPluginWorker
    """It has built the profiles."""

    @property
    def connections(self) -> int:
        """How many connections requests and watches take together."""
        streams = _STREAMS_A_NAMESPACE * max(len(self.options.namespaces), 1)
        return self.configuration.requests_in_flight + streams + _SPARE_CONNECTIONS

    def require_descriptors(self) -> None:
        """Raise the limit of open files if need be. Raises `InputError` if that is not allowed."""
        beside = _LEASE_CONNECTIONS + _EVENT_CONNECTIONS + _PORTS * CONNECTIONS + _OTHER_DESCRIPTORS
        require_descriptors(self.connections + beside)


def durations_of(options: SchedulerOptions) -> LeaseDurations:
    """The durations of the election. Raises `InputError` if they do not go together."""
    durations = LeaseDurations(
        lease=options.leader_elect_lease_duration,
        deadline=options.leader_elect_renew_deadline,
        retry=options.leader_elect_retry_period,
    )
    if options.leader_elect:
        durations.check()
    return durations


@asynccontextmanager
async def scheduler_of(
    arguments: SchedulerArguments, connection: Connection, clock: Clock, log: Log
) -> AsyncIterator[Scheduler]:
    """The scheduler for these arguments. Raises `InputError` for a server that cannot be used."""
    options, configuration = arguments.options, arguments.configuration
    permissions = MissingPermissions(clock, log)
    async with AsyncExitStack() as stack:
        elector = await _elector(stack, options, connection, clock, log, permissions)
        gate = _gate(options, elector)
        transport = HttpTransport(
            connection, user_agent=_USER_AGENT, connections=arguments.connections, gate=gate
        )
        await stack.enter_async_context(transport)
        events = None
        if not options.dry_run:
            event_transport = HttpTransport(
                connection, user_agent=f"{_USER_AGENT} events", connections=_EVENT_CONNECTIONS, gate=gate
            )
            await stack.enter_async_context(event_transport)
            instance = elector.identity if elector is not None else new_identity()
            events = events_to(event_transport, instance, EventSettings.of(configuration))
        await try_connection(transport, connection, clock)
        scheduler = Scheduler(
            profiles=arguments.profiles,
            settings=Settings.of(configuration),
            transport=transport,
            clock=clock,
            random=Random(),  # noqa: S311 - for jitter
            plugin_worker=arguments.plugin_worker,
            leadership=elector or AlwaysLeading(),
            log=log,
            namespaces=options.namespaces or None,
            permissions=permissions,
            in_flight=configuration.requests_in_flight,
            events=events,
            dry_run=DryRunSettings() if options.dry_run else None,
        )
        if elector is not None:
            register_election_metrics(scheduler.metrics, elector)
        yield scheduler


async def _elector(
    stack: AsyncExitStack,
    options: SchedulerOptions,
    connection: Connection,
    clock: Clock,
    log: Log,
    permissions: MissingPermissions,
) -> LeaderElector | None:
    """The elector, on connections of its own; None without an election, and in a dry run.

    Raises `InputError` without a namespace for the Lease.
    """
    if not options.leader_elect:
        return None
    if options.dry_run:
        log.info("a dry run takes no lease: --leader-elect is ignored")
        return None
    namespace = lease_namespace(options.lease_namespace, os.environ, connection.namespace)
    transport = HttpTransport(
        connection, user_agent=f"{_USER_AGENT} leader-election", connections=_LEASE_CONNECTIONS
    )
    await stack.enter_async_context(transport)
    return LeaderElector(
        transport=PermissionTransport(transport, permissions),
        clock=clock,
        log=log,
        term=LeaseTerm(clock=clock, durations=durations_of(options)),
        namespace=namespace,
        identity=new_identity(),
    )


def _gate(options: SchedulerOptions, elector: LeaderElector | None) -> Gate | None:
    """Called before the body of a request leaves. A dry run lets none leave, whatever part sends it."""
    if options.dry_run:
        return lambda: False
    return elector.term.lasts if elector is not None else None
