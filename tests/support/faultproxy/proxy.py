"""The proxy itself: a loop in a thread, with a certificate of an authority that was made for the test."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import trustme
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, TCPConnector, web
from threads import in_thread
from virtual.calls import target_of

from faultproxy.faults import Disturbance, Fault, Match, Request
from realcluster.servers import Cluster

_HOST = "127.0.0.1"
_GOODBYE_SECONDS = 0.1
_OF_ONE_CONNECTION = frozenset({"Connection", "Content-Length", "Host", "Transfer-Encoding"})


@dataclass(eq=False)
class Stream:
    """One open watch."""

    transport: asyncio.Transport
    response: web.StreamResponse
    left: int | None = None
    """So many bytes still pass, and then the connection breaks."""

    async def send(self, piece: bytes) -> None:
        """Pass bytes on. Raises `ConnectionError` where the connection is to be cut."""
        passed = piece[: self.left]
        if passed:
            await self.response.write(passed)
        if self.left is not None:
            self.left -= len(passed)
            if self.left == 0:
                # What was written still goes out; what the client waits for never comes.
                self.transport.close()
                raise ConnectionResetError("cut")


class Streams:
    """The watches on one resource, those that are open and those to come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._loop = loop
        self._changed = threading.Condition()
        self.open: set[Stream] = set()
        self.opened = 0
        """How many were opened so far."""
        self.late_seconds = 0.0
        """How much later, at least, the client gets to know of what comes."""

    # For tests

    def hold(self) -> None:
        """Let nothing through."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def release(self) -> None:
        """Let all through that was held, and what comes."""
        self._loop.call_soon_threadsafe(self._flowing.set)

    def cut(self, after_bytes: int = 0) -> None:
        """Break those that are open, now or when so many bytes more have passed."""

        def cut() -> None:
            for stream in self.open:
                stream.left = after_bytes
                if not after_bytes:
                    stream.transport.abort()

        self._loop.call_soon_threadsafe(cut)

    def wait_opened(self, count: int, seconds: float = 20) -> None:
        """Wait until so many were opened in all; fails after `seconds`."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.opened >= count, seconds), self.opened

    # For the proxy

    @contextmanager
    def opening(self, stream: Stream) -> Iterator[None]:
        """One more is open within the block."""
        self.open.add(stream)
        with self._changed:
            self.opened += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            self.open.discard(stream)

    async def pass_time(self) -> None:
        """Wait as long as what comes has to wait."""
        await asyncio.sleep(self.late_seconds)
        await self._flowing.wait()


class FaultProxy:
    """What a test says to a proxy that runs. All of it may be called from the test's thread."""

    def __init__(self, cluster: Cluster, upstream: ClientSession) -> None:
        self.cluster = cluster
        """The cluster as it is reached through the proxy, once it serves."""
        self.log: list[Request] = []
        """All requests so far."""
        self.defects: list[Exception] = []
        """What the proxy did not expect."""
        self.server = web.Server(self._handle)
        self._upstream = upstream
        self._loop = asyncio.get_running_loop()
        self._disturbances: list[Disturbance] = []
        self._streams: dict[str, Streams] = {}
        self._silent: set[asyncio.BaseTransport | None] = set()
        self._lock = threading.Lock()

    # For tests

    def disturb(self, match: Match, fault: Fault, times: int | None = 1) -> Disturbance:
        """Let a fault meet the next requests, so many times; None for all from now on."""
        disturbance = Disturbance(match, fault, times, self._loop)
        self._disturbances.append(disturbance)
        return disturbance

    def streams(self, plural: str) -> Streams:
        """The watches on a resource."""
        with self._lock:
            return self._streams.setdefault(plural, Streams(self._loop))

    def black_hole(self, watching: str | None = None) -> None:
        """Let nothing more through on the connections that are open now, and tell nobody.

        watching: only on those on which this resource is watched.
        """

        async def silence() -> None:
            if watching is None:
                self._silent.update(one.transport for one in self.server.connections)
            else:
                self._silent.update(one.transport for one in self.streams(watching).open)

        asyncio.run_coroutine_threadsafe(silence(), self._loop).result()

    def count(self, verb: str, plural: str, name: str = "") -> int:
        """How many requests of a kind there were."""
        return sum(map(Match(verb, plural, name), list(self.log)))

    # Inside

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Serve one request. Where there is no answer, the connection breaks."""
        answer: web.StreamResponse | None = None
        try:
            await self._be_silent(http)
            answer = await self._answer(http)
        except (OSError, ClientError):
            """Of a server that is away, or a client that is gone."""
        except Exception as error:  # noqa: BLE001 - it fails the test at its end
            self.defects.append(error)
        await self._be_silent(http)
        if answer is not None:
            return answer
        if http.transport is not None and not http.transport.is_closing():
            http.transport.abort()
        return web.Response()

    async def _answer(self, http: web.BaseRequest) -> web.StreamResponse | None:
        url = http.rel_url
        about = target_of(http.method, url.path, watching="watch" in url.query)
        request = Request(about, url, http.content_type, await http.read())
        self.log.append(request)
        disturbance = next((one for one in list(self._disturbances) if one.meets(request)), None)
        if disturbance is None:
            return await self._forwarded(http, request)
        fault = disturbance.fault
        if fault.holds_request:
            disturbance.note()
            await disturbance.hold()
            await self._be_silent(http)
        answer: web.StreamResponse | None = None
        if fault.forwarded:
            answer = await self._forwarded(http, request._replace(url=url.update_query(fault.query)))
        if not fault.holds_request:
            disturbance.note()
        if fault.answer is not None:
            reply = fault.answer
            answer = web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        return None if fault.dropped else answer

    async def _forwarded(self, http: web.BaseRequest, request: Request) -> web.StreamResponse:
        headers = [one for one in http.headers.items() if one[0] not in _OF_ONE_CONNECTION]
        async with self._upstream.request(
            http.method, str(request.url), data=request.body or None, headers=headers
        ) as said:
            fields = [one for one in said.headers.items() if one[0] not in _OF_ONE_CONNECTION]
            if request.about.verb == "watch" and said.status == 200:
                response = web.StreamResponse(headers=fields)
                response.enable_chunked_encoding()
                await self._pass_on(http, request.about.plural, said, response)
                return response
            return web.Response(status=said.status, headers=fields, body=await said.read())

    async def _pass_on(
        self, http: web.BaseRequest, plural: str, said: ClientResponse, response: web.StreamResponse
    ) -> None:
        """Pass on one watch to its end."""
        await response.prepare(http)
        assert http.transport is not None
        streams, stream = self.streams(plural), Stream(http.transport, response)
        with streams.opening(stream):
            async for piece in said.content.iter_any():
                await streams.pass_time()
                await self._be_silent(http)
                await stream.send(piece)

    async def _be_silent(self, http: web.BaseRequest) -> None:
        """Wait for ever on a connection that was silenced."""
        if http.transport in self._silent and http.transport is not None:
            await self._loop.create_future()


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
    with in_thread(_serving(cluster, ca_file, context)) as proxy:
        yield proxy
    assert not proxy.defects, proxy.defects


@asynccontextmanager
async def _serving(cluster: Cluster, ca_file: Path, context: ssl.SSLContext) -> AsyncIterator[FaultProxy]:
    trusted = ssl.create_default_context(cafile=str(cluster.ca_file))
    async with ClientSession(
        cluster.url,
        connector=TCPConnector(ssl=trusted, force_close=True, limit=0),
        timeout=ClientTimeout(total=None),
        auto_decompress=False,
    ) as upstream:
        proxy = FaultProxy(cluster, upstream)
        runner = web.ServerRunner(proxy.server, shutdown_timeout=_GOODBYE_SECONDS)
        await runner.setup()
        await web.TCPSite(runner, _HOST, 0, ssl_context=context).start()
        port = runner.addresses[0][1]
        proxy.cluster = replace(cluster, url=f"https://{_HOST}:{port}", ca_file=ca_file)
        try:
            yield proxy
        finally:
            await runner.cleanup()
