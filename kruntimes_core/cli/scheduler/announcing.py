"""From the options and the configuration to where the Events of a host go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kruntimes_core import __version__
from kruntimes_core.cli.scheduler.options import SchedulerOptions
from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import Gate
from kruntimes_core.cluster.event_recorder.recorder import EventSettings, EventSink, events_to
from kruntimes_core.cluster.leader_election.elector import LeaderElector
from kruntimes_core.cluster.leader_election.lease_lock import new_identity

_CONNECTIONS = 1
"""One Event is sent after the other, and no bind waits for this connection."""


@asynccontextmanager
async def event_sink(
    options: SchedulerOptions,
    settings: EventSettings,
    connection: Connection,
    elector: LeaderElector | None,
    gate: Gate | None,
) -> AsyncIterator[EventSink | None]:
    """The sink, on a connection of its own; None in a dry run, and where no Events are wanted.

    gate: of all writes to the cluster.
    """
    if options.dry_run:
        yield None
        return
    user_agent = f"kruntimes-scheduler/{__version__} events"
    async with HttpTransport(
        connection, user_agent=user_agent, connections=_CONNECTIONS, gate=gate
    ) as transport:
        yield events_to(transport, elector.identity if elector is not None else new_identity(), settings)
