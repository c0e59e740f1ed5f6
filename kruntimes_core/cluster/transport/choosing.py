"""Which way leads to a server: straight, or by a client that knows proxies and all kinds of URLs."""

from __future__ import annotations

from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.transport.direct.transport import DirectTransport, is_direct
from kruntimes_core.cluster.transport.http import HttpTransport
from kruntimes_core.cluster.transport.protocol import Gate


def transport_to(
    connection: Connection, *, user_agent: str, connections: int, gate: Gate | None = None
) -> DirectTransport | HttpTransport:
    """A transport to the server of a connection; see there for what is given."""
    way = DirectTransport if is_direct(connection) else HttpTransport
    return way(connection, user_agent=user_agent, connections=connections, gate=gate)
