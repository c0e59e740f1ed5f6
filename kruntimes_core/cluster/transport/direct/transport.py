"""The `Transport` of a host that reaches its API server without a proxy."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.transport.direct.answer import Answer, BrokenError
from kruntimes_core.cluster.transport.direct.heads import MalformedError
from kruntimes_core.cluster.transport.direct.line import Line
from kruntimes_core.cluster.transport.direct.lines import Address, Lines
from kruntimes_core.cluster.transport.protocol import (
    Call,
    Gate,
    MaybeSentError,
    NotSentError,
    Query,
    Response,
    StreamRefusedError,
    TransportError,
)
from kruntimes_core.cluster.transport.wording import no_connection, no_tls, not_trusted

_PORTS = {"http": 80, "https": 443}
_FAILURES = (OSError, BrokenError, MalformedError)
"""`TimeoutError` and whatever TLS raises are among them."""


def is_direct(connection: Connection) -> bool:
    """Whether a server can be reached so: without a proxy, and by a plain URL."""
    url = urlsplit(connection.server)
    plain = connection.server.isascii() and connection.server.isprintable() and " " not in connection.server
    return connection.proxy is None and plain and url.username is None and url.hostname is not None


class DirectTransport:
    """Connections of its own to the server of a `Connection`. To be closed in the loop that uses it."""

    def __init__(
        self, connection: Connection, *, user_agent: str, connections: int, gate: Gate | None = None
    ) -> None:
        """connections: at most so many at a time, watches included. gate: asked for each body."""
        url = urlsplit(connection.server)
        self._credentials = connection.credentials
        self._gate = gate
        self._path = url.path.rstrip("/")
        self._common = f"host: {url.netloc}\r\nuser-agent: {user_agent}\r\naccept-encoding: identity\r\n"
        self._lines = Lines(_address(connection, url), connections)
        self._query: Query = ()
        self._query_text = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        deadline = asyncio.get_running_loop().time() + call.timeout_seconds
        request = await self._request(call)
        while True:
            line = await self._lend(call, deadline)
            fresh, answer = line.idle_since is None, None
            try:
                answer = self._send(line, call, request, deadline)
                head, body = await answer.whole()
                break
            except _FAILURES as error:
                if call.method == "GET" and not fresh and answer is not None and not answer.began:
                    continue  # The server closed it before it heard of this request.
                raise _worded(error, call) from error
            finally:
                self._lines.give_back(line)
        if head.status == 401:
            await self._credentials.renew()
        return Response(head.status, body, head.headers)

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        deadline = asyncio.get_running_loop().time() + call.timeout_seconds
        request = await self._request(call)
        line = await self._lend(call, deadline)
        try:
            answer = self._send(line, call, request, deadline)
            answer.streamed = True
            head = await answer.begin()
            if head.status != 200:
                answer.streamed = False
                raise StreamRefusedError(await self._refused(answer))
            yield b""
            while part := await answer.part():
                line.took()
                yield part
        except _FAILURES as error:
            raise _worded(error, call) from error
        finally:
            self._lines.give_back(line)

    async def close(self) -> None:
        """Close all connections."""
        self._lines.close()
        # What was dropped is told of in the next turn.
        await asyncio.sleep(0)

    # Inside

    async def _request(self, call: Call) -> bytes:
        authorization = await self._credentials.authorization()
        if call.query != self._query:
            # Most calls have the query of the one before.
            self._query, self._query_text = call.query, f"?{urlencode(call.query)}" if call.query else ""
        parts = [f"{call.method} {self._path}{quote(call.path)}{self._query_text} HTTP/1.1\r\n", self._common]
        if "accept" not in call.headers:
            parts.append("accept: application/json\r\n")
        parts += [f"{name}: {value}\r\n" for name, value in call.headers.items()]
        if authorization is not None:
            if not authorization.isprintable():
                raise NotSentError("the token holds a line break: write it anew", lasting=True)
            parts.append(f"authorization: {authorization}\r\n")
        if call.body is None:
            return "".join((*parts, "\r\n")).encode()
        return "".join((*parts, f"content-length: {len(call.body)}\r\n\r\n")).encode() + call.body

    async def _lend(self, call: Call, deadline: float) -> Line:
        try:
            return await self._lines.lend(deadline)
        except OSError as error:
            raise _worded(error, call, connected=False) from error

    def _send(self, line: Line, call: Call, request: bytes, deadline: float) -> Answer:
        """Check, and send with no await between."""
        if call.body is not None and not all(gate() for gate in (self._gate, call.gate) if gate is not None):
            raise NotSentError("it may not be sent any more")
        return line.send(request, deadline)

    async def _refused(self, answer: Answer) -> Response:
        head, body = await answer.whole()
        if head.status == 401:
            await self._credentials.renew()
        return Response(head.status, body, head.headers)


def _address(connection: Connection, url: SplitResult) -> Address:
    tls = connection.tls
    if tls is None and url.scheme == "https":
        tls = ssl.create_default_context()
    return Address(
        host=url.hostname or "",
        port=url.port or _PORTS.get(url.scheme, 0),
        tls=tls if url.scheme == "https" else None,
        name=connection.server_name,
    )


def _worded(error: Exception, call: Call, connected: bool = True) -> TransportError:
    kind = MaybeSentError if call.body is None or connected else NotSentError
    if isinstance(error, TimeoutError):
        return kind(f"no answer within {call.timeout_seconds:g} s")
    if isinstance(error, MalformedError):
        return kind(str(error))
    if isinstance(error, ssl.SSLCertVerificationError):
        return kind(not_trusted(error), True)
    if not connected and isinstance(error, OSError):
        return kind(no_tls(error) if isinstance(error, ssl.SSLError) else no_connection(error))
    return kind("the connection broke before the answer was whole")
