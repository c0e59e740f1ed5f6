"""The transport by aiohttp: the only file that sends with it.

It does not use the official client's session, which costs three times as much for each request (`trust_env`)
and cannot check the renew deadline in the step that hands a write's bytes to the socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from functools import lru_cache
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

import aiohttp
from aiohttp.abc import AbstractStreamWriter

from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.transport import (
    Call,
    Gate,
    MaybeSentError,
    NotSentError,
    Query,
    Response,
    StreamRefusedError,
    TransportError,
)

_CONNECT_SECONDS = 10.0
_READ_BUFFER = 2**20
_HEADERS = {
    "accept": "application/json",
    # Between machines of one cluster compressing costs both sides more than sending.
    "accept-encoding": "identity",
}


class GateClosedError(Exception):
    """The gate forbids the write; not a byte of it was sent."""


class _Body(aiohttp.BytesPayload):
    """A body that checks the gates in the step that hands it to the socket, and records that step."""

    def __init__(self, value: bytes, content_type: str, *gates: Gate | None) -> None:
        super().__init__(value, content_type=content_type)
        self._gates = [gate for gate in gates if gate is not None]
        self.handed_over = False

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Check the gates and write, with no await between: aiohttp sends headers and body together here."""
        if not all(gate() for gate in self._gates):
            raise GateClosedError
        self.handed_over = True
        await super().write_with_length(writer, content_length)


class HttpTransport:
    """One session with the server of a `Connection`. Make and close it in the loop that uses it."""

    def __init__(
        self, connection: Connection, *, user_agent: str, connections: int, gate: Gate | None = None
    ) -> None:
        """connections: the most at a time, watches included. gate: called for each body."""
        self._connection = connection
        self._gate = gate
        self._common: dict[str, Any] = {
            "proxy": connection.proxy,
            "server_hostname": connection.server_name if connection.tls is not None else None,
            "allow_redirects": False,
        }
        tls: Any = connection.tls if connection.tls is not None else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ssl=tls),
            headers={**_HEADERS, "user-agent": user_agent},
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=_READ_BUFFER,
            raise_for_status=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        headers = dict(call.headers)
        body = self._body(call, headers)
        try:
            answer = await self._answer(call, headers, body)
            try:
                return Response(answer.status, await answer.read(), answer.headers)
            finally:
                answer.release()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            sent = body is None or body.handed_over
            raise _transport_error(_without_frames(error), call, sent=sent) from error

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        try:
            answer = await self._answer(call, dict(call.headers))
            try:
                if answer.status != 200:
                    raise StreamRefusedError(Response(answer.status, await answer.read(), answer.headers))
                yield b""
                while chunk := await answer.content.readany():
                    yield chunk
            finally:
                answer.close()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _transport_error(_without_frames(error), call, sent=True) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _answer(
        self, call: Call, headers: dict[str, str], body: _Body | None = None
    ) -> aiohttp.ClientResponse:
        """The head of an answer, before its body. headers: of the call; the credentials are added."""
        authorization = await self._connection.credentials.authorization()
        if authorization is not None:
            if not authorization.isprintable():
                raise NotSentError(
                    "the token contains a line break: write it again without one", lasting=True
                )
            headers["authorization"] = authorization
        answer = await self._session.request(
            call.method,
            f"{self._connection.server}{quote(call.path)}{_query_text(call.query)}",
            headers=headers,
            data=body,
            timeout=_limit(call.timeout_seconds),
            **self._common,
        )
        if answer.status == 401:
            try:
                await self._connection.credentials.renew()
            except BaseException:
                answer.close()
                raise
        return answer

    def _body(self, call: Call, headers: dict[str, str]) -> _Body | None:
        if call.body is None:
            return None
        return _Body(call.body, headers.pop("content-type", "application/json"), self._gate, call.gate)


@lru_cache(maxsize=32)
def _query_text(query: Query) -> str:
    return f"?{urlencode(query)}" if query else ""


@lru_cache(maxsize=32)
def _limit(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS)


def _without_frames(error: Exception) -> Exception:
    """The same error, without the frames that it came through, and so for what caused it.

    aiohttp keeps the error of a connection with the connection, to which the frames refer: a circle that is
    never freed once it is frozen (`garbage_collection`).
    """
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    return error


def _transport_error(error: Exception, call: Call, *, sent: bool) -> TransportError:
    """The error for what aiohttp raised, and what to do about it. sent: whether the server may have acted."""
    kind = MaybeSentError if sent else NotSentError
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return kind(f"its certificate is not trusted: {_certificate_problem(error.certificate_error)}", True)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        why = getattr(error.os_error, "reason", None) or error.os_error
        return kind(f"no TLS with it ({why}): an address with http:// has none")
    if isinstance(error, aiohttp.InvalidURL):  # it would quote the address, perhaps with a password
        return kind("its address, or that of its proxy, is not valid", lasting=True)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return kind(f"no connection to its proxy {error.host}:{error.port}: {_os_problem(error.os_error)}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return kind(f"no connection: {_os_problem(error.os_error)}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return kind(f"its proxy refused with {error.status}: name the server in NO_PROXY, or log in there")
    if isinstance(error, aiohttp.ClientResponseError):
        return kind("it does not speak HTTP: name the right port")
    if isinstance(error, aiohttp.ClientPayloadError):
        return kind("the connection broke before the answer was whole")
    if isinstance(error, asyncio.TimeoutError):
        return kind(f"no answer within {call.timeout_seconds:g} s")
    return kind(f"the connection broke: {str(error) or type(error).__name__}")


def _os_problem(error: OSError) -> str:
    return error.strerror or str(error)


def _certificate_problem(error: Exception) -> str:
    """Why a certificate is not trusted, and what to do about it."""
    why = str(getattr(error, "verify_message", "") or error).rstrip(".")
    if "expired" in why or "not yet valid" in why:
        return f"{why}: renew it, or set the clock"
    if "mismatch" in why:
        return f"{why}: name the server as its certificate does, or set tls-server-name"
    return f"{why}: name the right certificate authority"
