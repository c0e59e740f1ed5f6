"""The proxy itself: a loop in a thread, with a certificate of an authority that was made for the test."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import trustme

from faultproxy.faults import Disturbance, Fault
from faultproxy.relay import Relay, Streams, Upstream
from faultproxy.requests import Match, Request
from realcluster.servers import Cluster

_HOST = "127.0.0.1"
_SECONDS = 20


class Logged(NamedTuple):
    """One request that came."""

    verb: str
    plural: str
    name: str
    target: str
    content_type: str
    body: bytes


class FaultProxy:
    """What a test says to a proxy that runs. All of it may be called from the test's thread."""

    loop: asyncio.AbstractEventLoop
    """The loop of its own thread, once it serves."""

    def __init__(self, cluster: Cluster, upstream: Upstream) -> None:
        self.cluster = cluster
        """The cluster as it is reached through the proxy, once it serves."""
        self.log: list[Logged] = []
        """All requests so far."""
        self.defects: list[BaseException] = []
        """What the proxy did not expect."""
        self._upstream = upstream
        self._disturbances: list[Disturbance] = []
        self._streams: dict[str, Streams] = {}
        self._relays: dict[Relay, asyncio.Task[None]] = {}
        self._lock = threading.Lock()

    # For tests

    def disturb(self, match: Match, fault: Fault, times: int | None = 1) -> Disturbance:
        """Let a fault meet the next requests, so many times; None for all from now on."""
        disturbance = Disturbance(match, fault, times, self.loop)
        self._disturbances.append(disturbance)
        return disturbance

    def streams(self, plural: str) -> Streams:
        """The watches on a resource."""
        with self._lock:
            return self._streams.setdefault(plural, Streams(self.loop))

    def black_hole(self, watching: str | None = None) -> None:
        """Let nothing more through on the connections that are open now, and tell nobody.

        watching: only on those on which this resource is watched.
        """

        async def silence() -> None:
            for relay, task in self._relays.items():
                if watching in (None, relay.watching):
                    relay.silent = True
                    task.cancel()

        asyncio.run_coroutine_threadsafe(silence(), self.loop).result(_SECONDS)

    def count(self, verb: str, plural: str, name: str = "") -> int:
        """How many requests of a kind there were."""
        match = (verb, plural)
        return sum((one.verb, one.plural) == match and name in ("", one.name) for one in list(self.log))

    # For the loop

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end; one that was silenced stays until the proxy ends."""
        relay = Relay(reader, writer, self._upstream, self._met, self.streams)
        task = asyncio.ensure_future(relay.run())
        self._relays[relay] = task
        await asyncio.wait({task})
        if task.cancelled():
            return
        del self._relays[relay]
        error = task.exception()
        if error is not None:
            relay.break_off()
        else:
            writer.close()
        if error is not None and not isinstance(error, OSError | asyncio.IncompleteReadError):
            self.defects.append(error)

    async def end(self) -> None:
        """Break all connections."""
        relays = dict(self._relays)
        for relay, task in relays.items():
            task.cancel()
            relay.break_off()
        await asyncio.gather(*relays.values(), return_exceptions=True)

    def _met(self, request: Request) -> Disturbance | None:
        logged = Logged(
            request.verb,
            request.plural,
            request.name,
            request.target,
            request.head.field("content-type"),
            request.body,
        )
        self.log.append(logged)
        return next((one for one in list(self._disturbances) if one.meets(request)), None)


@contextmanager
def fault_proxy(cluster: Cluster, folder: Path) -> Iterator[FaultProxy]:
    """A proxy in front of a cluster until the block ends.

    A request that the proxy itself could not deal with fails at the end.
    """
    authority = trustme.CA()
    ca_file = folder / "proxy-authority.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(_HOST).configure_cert(context)
    upstream = Upstream(cluster.url, ssl.create_default_context(cafile=str(cluster.ca_file)))
    started: Future[tuple[FaultProxy, int]] = Future()
    ended = asyncio.Event()
    serving = _serve(FaultProxy(cluster, upstream), context, started, ended)
    thread = threading.Thread(target=asyncio.run, args=(serving,))
    thread.start()
    proxy, port = started.result(_SECONDS)
    proxy.cluster = replace(cluster, url=f"https://{_HOST}:{port}", ca_file=ca_file)
    try:
        yield proxy
    finally:
        proxy.loop.call_soon_threadsafe(ended.set)
        thread.join(_SECONDS)
    assert not proxy.defects, proxy.defects


async def _serve(
    proxy: FaultProxy,
    context: ssl.SSLContext,
    started: Future[tuple[FaultProxy, int]],
    ended: asyncio.Event,
) -> None:
    proxy.loop = asyncio.get_running_loop()
    server = await asyncio.start_server(proxy.connected, _HOST, 0, ssl=context)
    started.set_result((proxy, server.sockets[0].getsockname()[1]))
    await ended.wait()
    server.close()
    await proxy.end()
