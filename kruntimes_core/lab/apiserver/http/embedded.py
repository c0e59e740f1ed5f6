"""An API server on a port of loopback, with nothing behind it but objects in memory."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime
from types import TracebackType

from aiohttp import web

from kruntimes_core.lab.apiserver.http.handler import Handler
from kruntimes_core.lab.apiserver.http.middleware import Authorizer, Middleware
from kruntimes_core.lab.apiserver.server import ApiServer

_GOODBYE_SECONDS = 0.5
"""How long requests may still take when the server stops."""


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
    ) -> None:
        """middleware: None for one that changes nothing. authorizer: None allows everything.

        port: 0 for any that is free. bookmark_seconds: how often watches that want them get bookmarks.
        """
        self.api = api if api is not None else new_server()
        self._handler = Handler(self.api, middleware or Middleware(), authorizer, bookmark_seconds)
        self._server = web.Server(self._handler.handle, access_log=None, handler_cancellation=True)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=_GOODBYE_SECONDS)
        self._host = host
        self._port = port
        self.url = ""
        """Where it is served, without a slash at the end; empty before it is entered."""

    @property
    def connections(self) -> list[object]:
        """The connections that are open now."""
        return [one.transport for one in self._server.connections if one.transport is not None]

    async def __aenter__(self) -> EmbeddedServer:
        """Listen. Raises `OSError` when the port is taken."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all watches and close all connections."""
        await self._handler.stop(_GOODBYE_SECONDS)
        await self._runner.cleanup()


def new_server(*, controllers: bool = True) -> ApiServer:
    """A server on the wall clock, with random uids and names; controllers: see `ApiServer`."""
    return ApiServer(
        now=lambda: datetime.now(UTC),
        uid=lambda: str(uuid.uuid4()),
        source=random.SystemRandom(),
        controllers=controllers,
    )
