"""An API server on a port of loopback, with nothing behind it but objects in memory."""

from __future__ import annotations

import random
import sys
import uuid
from datetime import UTC, datetime
from types import TracebackType

from aiohttp import web

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.http_server import (
    BoundedServer,
    RequestProblems,
    is_loopback,
    listen,
)
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.apiserver.http.handler import Handler
from kruntimes_core.lab.apiserver.http.middleware import Authorizer, Middleware
from kruntimes_core.lab.apiserver.server import ApiServer

_GOODBYE_SECONDS = 0.5
"""How long requests may still take when the server stops."""
_CONNECTIONS = 1_000
_SILENCE_SECONDS = 300.0


class EmbeddedServer:
    """An async context manager: while it is entered, `url` is served.

    `api` are the objects and verbs themselves, for use in the same process and on the same thread.
    """

    def __init__(
        self,
        api: ApiServer | None = None,
        *,
        middleware: Middleware | None = None,
        authorizer: Authorizer | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        bookmark_seconds: float = 60.0,
        log: Log | None = None,
    ) -> None:
        """middleware: None for one that changes nothing. authorizer: None allows everything.

        host: on loopback, pages of a browser are refused. port: 0 for any that is free. bookmark_seconds: how
        often watches that want them get bookmarks. log: of requests without an answer; None: standard error.
        """
        self.api = api if api is not None else new_server()
        self._handler = Handler(
            self.api, middleware or Middleware(), authorizer, bookmark_seconds, loopback=is_loopback(host)
        )
        clock = SystemClock()
        self._server = BoundedServer(
            self._handler.handle,
            RequestProblems(log or Log(sys.stderr, clock), clock),
            connections=_CONNECTIONS,
            silence_seconds=_SILENCE_SECONDS,
        )
        self._runner: web.ServerRunner | None = None
        self._host = host
        self._port = port
        self.url = ""
        """Where it is served, without a slash at the end; empty before it is entered."""

    @property
    def connections(self) -> list[object]:
        """The connections that are open now."""
        return list(self._server.open_transports())

    async def __aenter__(self) -> EmbeddedServer:
        """Listen. Raises `OSError` when the port is taken."""
        self._runner = await listen(self._server, self._host, self._port)
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all watches and close all connections."""
        await self._handler.stop(_GOODBYE_SECONDS)
        if self._runner is not None:
            await self._runner.cleanup()


def new_server(*, controllers: bool = True) -> ApiServer:
    """A server on the wall clock, with random uids and names; controllers: see `ApiServer`."""
    return ApiServer(
        now=lambda: datetime.now(UTC),
        uid=lambda: str(uuid.uuid4()),
        source=random.SystemRandom(),
        controllers=controllers,
    )
