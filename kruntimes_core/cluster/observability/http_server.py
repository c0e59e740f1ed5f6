"""An HTTP server on a port that anybody may reach: connections, silence and log lines are bounded.

aiohttp speaks HTTP. What is here keeps a port scanner, a broken client or a scraper that never reads from
taking the descriptors, the processor or the log of a scheduler.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestHandler, RequestPayloadError

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Log, RareWarning

CONNECTIONS = 64
"""A kubelet, a few scrapers and a few people."""
SILENCE_SECONDS = 30.0
"""For how long a connection may be open without a whole request: the first one, or the next one."""
_ACCEPTED_AT_ONCE = 16
"""Also how many errors one turn of the loop meets when the process has no descriptors left."""
_LINGER_SECONDS = 1.0
_ERROR_CHARACTERS = 120

RequestFunction = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class BoundedServer(web.Server):
    """Serves one function. With too many connections it drops the oldest: the newest may be a probe's."""

    def __init__(
        self,
        answer: RequestFunction,
        problems: RequestProblems,
        *,
        connections: int = CONNECTIONS,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        """problems: hears of what cannot be answered. connections: how many may be open at a time."""
        super().__init__(
            answer,
            handler_cancellation=True,
            access_log=None,
            logger=problems.logger,
            keepalive_timeout=silence_seconds,
            lingering_time=_LINGER_SECONDS,
        )
        self._limit = connections

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """See `web.Server`."""
        super().connection_made(handler, transport)
        transports = list(self.open_transports())
        for oldest in transports[: max(0, len(transports) - self._limit)]:
            # A plain close would wait for a client that does not read.
            oldest.abort()

    def open_transports(self) -> Iterator[asyncio.Transport]:
        """Those of the open connections, the oldest first."""
        for connection in self.connections:
            transport = connection.transport
            if isinstance(transport, asyncio.Transport) and not transport.is_closing():
                yield transport


async def listen(server: BoundedServer, host: str | None, port: int) -> web.ServerRunner:
    """Serve on an address; None for all interfaces. Gives what knows the address and ends the service.

    Raises: `OSError` for an address that cannot be had.
    """
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=_ACCEPTED_AT_ONCE).start()
    except OSError:
        await runner.cleanup()
        raise
    return runner


class RequestProblems(logging.Handler):
    """Takes what aiohttp logs of requests, and says it in one line a minute at most."""

    def __init__(self, log: Log, clock: Clock) -> None:
        super().__init__()
        self._warn = RareWarning(log, clock)
        # Of no tree: what others do to the logging of the process does not change what is said here.
        self.logger = logging.Logger("kruntimes.http", logging.WARNING)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        error = record.exc_info[1] if record.exc_info else None
        malformed = isinstance(error, HttpProcessingError | RequestPayloadError)
        self._warn(
            "a client sent what is not HTTP" if malformed else "an HTTP request failed",
            error=_one_line(error) if error is not None else record.getMessage(),
        )


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:_ERROR_CHARACTERS]


def foreign_page(request: web.BaseRequest) -> str:
    """Why a page in a browser may have sent this request to a server on loopback; empty if none can.

    A foreign name that resolves to loopback shows in `Host`, and a foreign page in `Origin`.
    """
    host = request.headers.get("Host", "")
    if not is_loopback(_host_of(f"//{host}")):
        return f"the Host {host!r} is not a loopback address"
    origin = request.headers.get("Origin")
    if origin is not None and not is_loopback(_host_of(origin)):
        return f"the Origin {origin!r} is not a loopback address"
    return ""


def is_loopback(name: str) -> bool:
    """Whether a host name or an address means this machine alone."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
