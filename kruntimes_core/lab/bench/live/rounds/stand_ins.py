"""Watches such as a scheduler has, while none runs: the API server has to tell somebody of each patch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.cluster.client.transport import Call, Transport
from kruntimes_core.lab.bench.live.api import RefusedError
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.tasks import beside

_WATCH_SECONDS = 600
_NOT_SERVED = 404


class _StandIn:
    """One watch. It is read, and nothing is made of it."""

    def __init__(self, transport: Transport, resource: ApiResource, namespace: str, version: str) -> None:
        self.opened = asyncio.Event()
        self._transport = transport
        self._call = Call(
            method="GET",
            path=resource.path(namespace),
            query=(*resource.selector, ("watch", "1"), ("resourceVersion", version)),
            timeout_seconds=_WATCH_SECONDS,
        )

    async def run(self) -> None:
        """Read until the server ends it."""
        async with aclosing(self._transport.stream(self._call)) as chunks:
            async for _ in chunks:
                self.opened.set()


@asynccontextmanager
async def stand_ins(site: Site, transport: Transport) -> AsyncIterator[None]:
    """Within the block they are open, in each namespace of the site."""
    watches = [
        _StandIn(transport, resource, name, version)
        for resource in (PODS, WORKSPACES, RUNS)
        for name in site.namespaces
        if (version := await _version(site, resource, name)) is not None
    ]
    async with beside(watch.run() for watch in watches):
        for watch in watches:
            await watch.opened.wait()
        yield


async def _version(site: Site, resource: ApiResource, namespace: str) -> str | None:
    """Where a watch begins. None for workspaces that the server does not serve: a scheduler works without."""
    try:
        return await site.api.version(resource, namespace)
    except RefusedError as error:
        if resource is not WORKSPACES or error.code != _NOT_SERVED:
            raise
        return None
