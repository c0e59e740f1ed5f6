"""The server over HTTP, and a client that hides nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeVar

import aiohttp

from embedded.api import new_api
from embedded.bodies import Object
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.testing.access_rules import AccessRules

RUNS = "/apis/kruntimes.io/v1alpha1/namespaces/team-a/runs"
PODS = "/api/v1/namespaces/team-a/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PATIENCE_SECONDS = 20
T = TypeVar("T")


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def body(self) -> Any:
        return json.loads(self.text)


class Stream:
    """A watch that is being read."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def line(self) -> bytes:
        """The next line as it came; empty at the end."""
        return await self._response.content.readline()

    async def event(self) -> Object:
        """The next event."""
        found: Object = json.loads(await self.line())
        return found

    async def rest(self) -> list[Object]:
        """All events until the stream ends."""
        return [json.loads(line) for line in (await self._response.content.read()).splitlines()]


class Client:
    """One client with its own connections."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def send(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **headers: str
    ) -> Reply:
        """One request; body: JSON unless it is bytes. Raises `aiohttp.ClientError` when it breaks."""
        data: BytesIO | None = None
        if body is not None:
            data = BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent["Content-Type"] = content_type
        async with self._session.request(method, self._url + path, data=data, headers=sent) as response:
            text = await response.text()
            return Reply(response.status, text, dict(response.headers))

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.send("GET", path, **headers)

    async def post(self, path: str, body: Any, **headers: str) -> Reply:
        return await self.send("POST", path, body, **headers)

    async def merge(self, path: str, document: Any) -> Reply:
        return await self.send("PATCH", path, document, MERGE)

    @asynccontextmanager
    async def watch(self, path: str, query: str = "", **headers: str) -> AsyncIterator[Stream]:
        url = f"{self._url}{path}?watch=true&{query}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self._session.get(url, headers=sent) as response:
            assert response.status == 200, await response.text()
            yield Stream(response)


@dataclass
class Serving:
    """A server that runs, and a client of it."""

    server: EmbeddedServer
    client: Client

    @property
    def api(self) -> ApiServer:
        return self.server.api


@asynccontextmanager
async def serving(
    api: ApiServer | None = None,
    *,
    access: AccessRules | None = None,
    **more: Any,
) -> AsyncIterator[Serving]:
    """A server on a free port."""
    async with (
        EmbeddedServer(api or new_api(), authorizer=access, **more) as server,
        aiohttp.ClientSession() as session,
    ):
        yield Serving(server, Client(session, server.url))


def play(scene: Callable[[], Awaitable[T]]) -> T:
    """Run a scene on a loop of its own, with a limit for the case that something hangs."""

    async def limited() -> T:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await scene()

    return asyncio.run(limited())
