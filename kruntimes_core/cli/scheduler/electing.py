"""From the options of an election to the leadership of a host."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kruntimes_core import __version__
from kruntimes_core.cli.scheduler.options import SchedulerOptions
from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.leader_election.elector import LeaderElector
from kruntimes_core.cluster.leader_election.lease_lock import lease_namespace, new_identity
from kruntimes_core.cluster.leader_election.lease_term import LeaseDurations, LeaseTerm
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.permissions import MissingPermissions, PermissionTransport

_CONNECTIONS = 2
"""One for the renewal, one for the next while that is given up."""


def durations_of(options: SchedulerOptions) -> LeaseDurations:
    """The durations that were asked for. Raises `InputError` if they do not go together."""
    durations = LeaseDurations(
        lease=options.leader_elect_lease_duration,
        deadline=options.leader_elect_renew_deadline,
        retry=options.leader_elect_retry_period,
    )
    if options.leader_elect:
        durations.check()
    return durations


@asynccontextmanager
async def election(
    options: SchedulerOptions,
    connection: Connection,
    clock: Clock,
    log: Log,
    term: LeaseTerm,
    rights: MissingPermissions,
) -> AsyncIterator[LeaderElector | None]:
    """The elector, on connections of its own; None where none was asked for, and in a dry run.

    term: the gate of all writes to the cluster. rights: hears what is answered about the Lease.

    Raises `InputError` without a namespace for the Lease.
    """
    if not options.leader_elect or options.dry_run:
        if options.leader_elect:
            log.info("a dry run takes no lease, whatever --leader-elect says")
        yield None
        return
    namespace = lease_namespace(options.lease_namespace, os.environ, connection.namespace)
    user_agent = f"kruntimes-scheduler/{__version__} leader-election"
    async with HttpTransport(connection, user_agent=user_agent, connections=_CONNECTIONS) as transport:
        yield LeaderElector(
            transport=PermissionTransport(transport, rights),
            clock=clock,
            log=log,
            term=term,
            namespace=namespace,
            identity=new_identity(),
        )
