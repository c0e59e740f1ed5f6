"""The fixture `stage`: the embedded server alone, and with the real one beside it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from contract.http import Endpoint
from contract.stage import EMBEDDED, REAL, Stage
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer, new_server
from realcluster.servers import Cluster

__all__ = ["BOTH", "embedded", "stage"]

BOTH = pytest.param("both", marks=pytest.mark.real_server)
_START_SECONDS = 10


@pytest.fixture(scope="session")
def embedded() -> Iterator[Endpoint]:
    """The embedded server, without the controllers that the real one has not got here either."""
    with _running() as url:
        yield Endpoint(url)


@pytest.fixture(params=["alone", BOTH])
def stage(request: pytest.FixtureRequest, embedded: Endpoint) -> Stage:
    """Where scripts are played."""
    if request.param == "alone":
        return Stage({EMBEDDED: embedded})
    cluster: Cluster = request.getfixturevalue("cluster")
    real = Endpoint(cluster.url, cluster.token, cluster.ca_file)
    return Stage({REAL: real, EMBEDDED: embedded})


@contextmanager
def _running() -> Iterator[str]:
    """The server on a thread and loop of its own."""
    place: list[str] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with EmbeddedServer(new_server(controllers=False)) as server:
            # A real server keeps nothing of what was before its watches began.
            for resource in server.api.resources:
                server.api.table(resource)
            server.api.store.forget()
            place.append(server.url)
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert started.wait(_START_SECONDS), "the embedded server did not start"
    try:
        yield place[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
