"""Beginning to serve, and ending."""

from __future__ import annotations

import asyncio
import io

import aiohttp
import pytest

from embedded.api import new_api
from embedded.bodies import NAMESPACE
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer
from realcluster.client import RUNS

PATH = RUNS.path(NAMESPACE)


def test_a_port_that_is_taken_is_said_at_once() -> None:
    async def scene() -> None:
        async with EmbeddedServer(new_api()) as server:
            port = int(server.url.rpartition(":")[2])
            with pytest.raises(OSError, match="address already in use"):
                await EmbeddedServer(new_api(), port=port).__aenter__()

    asyncio.run(scene())


def test_stopping_ends_open_watches() -> None:
    async def scene() -> None:
        async with aiohttp.ClientSession() as session:
            async with EmbeddedServer(new_api()) as server:
                response = await session.get(f"{server.url}{PATH}?watch=true")
            assert await response.content.read() == b""

    asyncio.run(scene())


# Pages in a browser

FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "localhost.evil.example"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PATCH"])
@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_page_of_another_site_gets_nothing(method: str, headers: dict[str, str]) -> None:
    async def scene() -> None:
        async with EmbeddedServer(new_api()) as server, aiohttp.ClientSession() as session:
            for path in ("/version", "/api", PATH, f"{PATH}?watch=true"):
                async with session.request(method, server.url + path, headers=headers) as answer:
                    assert answer.status == 403
                    assert (await answer.json())["reason"] == "Forbidden"
            assert server.api.store.version == EmbeddedServer(new_api()).api.store.version

    asyncio.run(scene())


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/octet-stream"],
)
def test_a_form_writes_nothing(content_type: str) -> None:
    async def scene() -> None:
        async with EmbeddedServer(new_api()) as server, aiohttp.ClientSession() as session:
            body = b'{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}'
            where = f"{server.url}/api/v1/namespaces"
            async with session.post(where, data=body, headers={"Content-Type": content_type}) as answer:
                assert answer.status == 415

    asyncio.run(scene())


def test_what_is_not_http_is_one_line_of_the_log() -> None:
    async def scene() -> None:
        said = io.StringIO()
        async with EmbeddedServer(new_api(), log=Log(said, SystemClock())) as server:
            port = int(server.url.rpartition(":")[2])
            for _ in range(3):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0")
                assert b"400" in await reader.read(40)
                writer.close()
                await writer.wait_closed()
        assert said.getvalue().count("\n") == 1
        assert "a client sent what is not HTTP" in said.getvalue()

    asyncio.run(scene())
