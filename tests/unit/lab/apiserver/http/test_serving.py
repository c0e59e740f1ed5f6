"""Beginning to serve, and ending."""

from __future__ import annotations

import aiohttp
import pytest

from embedded.api import new_api
from embedded.http import RUNS, play, serving
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer


def test_a_port_that_is_taken_is_said_at_once() -> None:
    async def scene() -> None:
        async with serving() as site:
            port = int(site.server.url.rpartition(":")[2])
            with pytest.raises(OSError, match="address already in use"):
                await EmbeddedServer(new_api(), port=port).__aenter__()

    play(scene)


def test_stopping_ends_open_watches() -> None:
    async def scene() -> None:
        async with aiohttp.ClientSession() as session:
            async with EmbeddedServer(new_api()) as server:
                response = await session.get(f"{server.url}{RUNS}?watch=true")
            assert await response.content.read() == b""

    play(scene)
