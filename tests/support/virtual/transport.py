"""A `Transport` to an embedded API server in virtual time, and whatever may go wrong on the way to it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response, StreamRefusedError
from kruntimes_core.lab.apiserver.server import ApiServer
from virtual.calls import Fault, Target, status, target
from virtual.direct import DirectTransport

_AT_ONCE_SECONDS = 0.01


class Stream:
    """One open watch, between the server and its client."""

    def __init__(self, plural: str, lag_seconds: Callable[[], float]) -> None:
        """lag_seconds: how much later than it happened an event is told."""
        self.plural = plural
        self._lag_seconds = lag_seconds
        self._due: deque[tuple[float, bytes]] = deque()
        """What is on its way, with the time at which it arrives."""
        self._cut = self._silent = self._ended = False
        self._changed = asyncio.Event()

    def put(self, chunk: bytes) -> None:
        """The server sends something."""
        self._due.append((_now() + self._lag_seconds(), chunk))
        self._changed.set()

    def inject(self, chunk: bytes) -> None:
        """Let these bytes come next."""
        self._due.appendleft((0.0, chunk))
        self._changed.set()

    def end(self) -> None:
        """The server ends it."""
        self._ended = True
        self._changed.set()

    def cut(self) -> None:
        """The connection breaks."""
        self._cut = True
        self._changed.set()

    def silence(self, silent: bool = True) -> None:
        """Let nothing through any more, while the client notices nothing; or go on."""
        self._silent = silent
        self._changed.set()

    def reverse(self) -> None:
        """Let the lines that are on their way arrive in the reverse order."""
        lines = b"".join(chunk for _, chunk in self._due).splitlines(keepends=True)
        self._due = deque((_now(), line) for line in reversed(lines))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What arrives, until the server has ended it."""
        while not (self._ended and not self._due and not self._silent):
            self._changed.clear()
            for chunk in self._arrived():
                yield chunk
            if self._cut:
                raise MaybeSentError("the connection broke")
            if not self._changed.is_set():
                await self._rest()

    def _arrived(self) -> Iterator[bytes]:
        while self._due and self._due[0][0] <= _now() and not (self._silent or self._cut):
            yield self._due.popleft()[1]

    async def _rest(self) -> None:
        """Wait for a change, or until the next chunk arrives."""
        if self._ended and not self._due and not self._silent:
            return
        seconds = self._due[0][0] - _now() if self._due and not self._silent else None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()


class FaultyTransport:
    """All calls are remembered; unless a test says otherwise, nothing goes wrong."""

    def __init__(self, api: ApiServer) -> None:
        self._direct = DirectTransport(api)
        self._store = api.store
        self.calls: list[tuple[float, Target, Call]] = []
        """All calls with their time."""
        self.faults: list[Fault] = []
        self.streams: list[Stream] = []
        """The watches that are open."""
        self.page_size: int | None = None
        """The most items that a page has, whatever was asked for."""
        self.oldest = 0
        """Watches from older versions are answered with 410."""
        self.lag_seconds: dict[str, float] = {}
        """How much later than it happened a watch tells of an event, for each resource."""
        self.missing: set[str] = set()
        """Resources that are not served."""
        self.ended_at_once: set[str] = set()
        """Resources whose new watches end as soon as they have told what there was to tell."""
        self.closed = False

    def stream_of(self, plural: str) -> Stream:
        """The one watch of a resource that is open."""
        (stream,) = (one for one in self.streams if one.plural == plural)
        return stream

    def count(self, verb: str, plural: str) -> int:
        """How many calls there were."""
        return sum(one.kind == (verb, plural) for _, one, _ in self.calls)

    def serve(self, call: Call) -> Response:
        """What the server makes of a call, without any fault."""
        if target(call).plural in self.missing:
            return Response(404, b"404 page not found")
        query = dict(call.query)
        if self.page_size is not None and "limit" in query:
            query["limit"] = str(min(int(query["limit"]), self.page_size))
        return self._direct.serve(replace(call, query=tuple(query.items())))

    # Transport

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        self._note(call)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._disturbed(call) or self.serve(call)
        except TimeoutError as error:
            raise MaybeSentError(f"no answer within {call.timeout_seconds:g} s") from error

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        self._note(call)
        what = target(call)
        answer = await self._disturbed(call) or self._refusal(call, what)
        if answer is not None:
            raise StreamRefusedError(answer)
        inner = self._direct.stream(call)
        first = await anext(inner)
        stream = Stream(what.plural, lambda: self.lag_seconds.get(what.plural, 0.0))
        passing = asyncio.create_task(self._pass_on(inner, stream, int(dict(call.query)["resourceVersion"])))
        if what.plural in self.ended_at_once:
            asyncio.get_running_loop().call_later(_AT_ONCE_SECONDS, stream.end)
        self.streams.append(stream)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                yield first
                async for chunk in stream.chunks():
                    yield chunk
        except TimeoutError as error:
            raise MaybeSentError("no end in time") from error
        finally:
            passing.cancel()
            self.streams.remove(stream)

    async def close(self) -> None:
        """See `Transport`."""
        self.closed = True

    # Inside

    def _note(self, call: Call) -> None:
        self.calls.append((_now(), target(call), call))

    async def _disturbed(self, call: Call) -> Response | None:
        await asyncio.sleep(0)
        for fault in list(self.faults):
            answer = await fault(call)
            if answer is not None:
                return answer
        return None

    def _refusal(self, call: Call, what: Target) -> Response | None:
        """How a watch is refused that the server itself would take."""
        if what.plural in self.missing:
            return status(404, "NotFound")
        if int(dict(call.query)["resourceVersion"]) < self.oldest:
            return status(410, "Expired", "too old resource version")
        return None

    async def _pass_on(self, inner: AsyncGenerator[bytes, None], stream: Stream, version: int) -> None:
        """A real server takes a version that it has not reached, and tells of nothing until then."""
        async with aclosing(inner):
            async for chunk in inner:
                if version <= self._store.version:
                    stream.put(chunk)
        stream.end()


def _now() -> float:
    return asyncio.get_running_loop().time()
