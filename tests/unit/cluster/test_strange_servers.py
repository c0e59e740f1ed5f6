"""What an operator reads when the address leads somewhere else, or the certificates do not fit."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
import trustme

from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import Call, NotSentError, TransportError

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LONG_AGO, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)


class Token:
    """Credentials with this token."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def authorization(self) -> str | None:
        return f"Bearer {self._token}"

    async def renew(self) -> None:
        """There is no other."""


async def greets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers as no HTTP server does."""
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    await writer.drain()
    writer.close()


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def why_not(
    talk: Talk = greets,
    *,
    scheme: str = "http",
    host: str = "127.0.0.1",
    certificate: trustme.LeafCert | None = None,
    trusted: ssl.SSLContext | None = None,
    credentials: Token | None = None,
    proxied: bool = False,
) -> TransportError:
    """How a request fails that is made to `talk`, served with this certificate, or without TLS.

    proxied: `talk` is the proxy on the way to a server with TLS.
    """
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            here = f"{scheme}://{host}:{port}"
            connection = Connection(
                server="https://api.example" if proxied else here,
                credentials=credentials or Token("secret"),
                tls=trusted,
                proxy=here if proxied else None,
            )
            async with HttpTransport(connection, user_agent="test/1", connections=1) as transport:
                await transport.request(Call(method="GET", path="/version", timeout_seconds=20))

    with pytest.raises(TransportError) as raised:
        asyncio.run(main())
    assert "\n" not in str(raised.value)
    return raised.value


def test_a_certificate_that_is_not_trusted_says_what_to_mend() -> None:
    authority, other = trustme.CA(), trustme.CA()
    here = authority.issue_cert("127.0.0.1")
    old = authority.issue_cert("127.0.0.1", not_before=LONG_AGO, not_after=LATER)
    ours = trusting(authority)
    stranger = why_not(scheme="https", certificate=here, trusted=trusting(other))
    assert str(stranger).endswith(": name the right certificate authority")
    expired = why_not(scheme="https", certificate=old, trusted=ours)
    assert "certificate has expired: renew it, or set the clock" in str(expired)
    elsewhere = why_not(scheme="https", host="localhost", certificate=here, trusted=ours)
    assert "'localhost': name the server as its certificate does, or set tls-server-name" in str(elsewhere)
    assert stranger.lasting
    assert expired.lasting
    assert elsewhere.lasting


def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
    failure = why_not(scheme="https", trusted=trusting(trustme.CA()))
    assert str(failure).startswith("no TLS with it (")
    assert "an address with http:// has none" in str(failure)


def test_a_server_of_another_protocol_is_told() -> None:
    assert str(why_not()) == "it does not speak HTTP: name the right port"


async def turns_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A proxy that wants to know who asks."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()
    writer.close()


def test_a_proxy_that_refuses_is_told_from_the_server_behind_it() -> None:
    failure = why_not(turns_away, proxied=True)
    assert str(failure) == "its proxy refused with 407: name the server in NO_PROXY, or log in there"


def test_a_proxy_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    connection = Connection(
        server="https://api.example", credentials=Token("x"), proxy=f"http://127.0.0.1:{port}"
    )

    async def main() -> None:
        async with HttpTransport(connection, user_agent="test/1", connections=1) as transport:
            await transport.request(Call(method="GET", path="/version", timeout_seconds=20))

    with pytest.raises(TransportError, match=f"no connection to its proxy 127.0.0.1:{port}: "):
        asyncio.run(main())


@pytest.mark.parametrize("token", ["one\ntwo", "one\rtwo", "one\x00two"])
def test_a_token_that_would_break_the_request_is_never_sent(token: str) -> None:
    failure = why_not(credentials=Token(token))
    assert isinstance(failure, NotSentError)
    assert failure.lasting
    assert "the token contains a line break: write it again without one" in str(failure)
    assert token not in str(failure)
