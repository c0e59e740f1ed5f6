"""Telling a watch to its client, line by line, until either of them has had enough."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kruntimes_core.lab.apiserver.encoding import Renderer, encode, encode_event
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.faults.streams import OpenWatch
from kruntimes_core.lab.apiserver.requests import ListOptions, RequestInfo
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.watch_cache import Watch

DEFAULT_TIMEOUT_SECONDS = 1800
Send = Callable[[bytes], Awaitable[None]]


class WatchHandler:
    """One watch on its way. `send` takes what is to be written."""

    def __init__(
        self,
        api: ApiServer,
        faults: Faults,
        call: RequestInfo,
        renderer: Renderer,
        options: ListOptions,
        bookmark_seconds: float,
    ) -> None:
        """Raises `ApiError` for options that make no sense; a 410 is told in the stream."""
        self._faults = faults
        self._call = call
        self._renderer = renderer
        self._options = options
        self._bookmark_seconds = bookmark_seconds
        self._news = asyncio.Event()
        self._first = True
        from_now = options.send_initial_events or options.resource_version == "0"
        self._initial_end_due = from_now and options.allow_bookmarks
        self._bookmarked: int | None = None
        self._stream = OpenWatch(call, self._news.set)
        self._watch: Watch | None = None
        self._lost: ApiError | None = None
        try:
            self._watch = api.watch(call.resource, call.place, options, self._news.set)
        except ApiError as error:
            if error.code != 410:
                raise
            self._lost = error

    async def tell(self, send: Send) -> None:
        """Tell until the time is up, the client is gone (`send` raises) or the watch is lost."""
        self._faults.watches.add(self._stream)
        seconds = self._options.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await self._tell(send)
        except TimeoutError:
            await self._farewell(send)
        finally:
            self._faults.watches.discard(self._stream)
            if self._watch is not None:
                self._watch.close()

    async def _tell(self, send: Send) -> None:
        if self._faults.ends_at_once(self._call):
            return
        while True:
            self._news.clear()
            lines = self._lines()
            if lines:
                await send(lines)
            if self._stream.ended or self._lost is not None:
                return
            await self._wait(send)

    def _lines(self) -> bytes:
        lines = self._stream.take_lines()
        if self._lost is None and not self._faults.is_held(self._call):
            lines += self._events()
        if self._lost is not None:
            return lines + encode_event("ERROR", encode(self._lost.as_object()))
        if self._stream.bookmark_wanted:
            self._stream.bookmark_wanted = False
            lines += self._bookmark()
        return lines

    def _events(self) -> bytes:
        if self._watch is None:
            return b""
        try:
            events = self._watch.pending()
        except ApiError as error:
            self._lost = error
            return b""
        lines = []
        for event in events:
            lines.append(self._renderer.event(event, first=self._first))
            self._first = False
        if self._initial_end_due:
            self._initial_end_due = False
            self._bookmarked = self._watch.version
            lines.append(self._renderer.bookmark(self._watch.version, initial_end=True))
        return b"".join(lines)

    def _bookmark(self) -> bytes:
        if self._watch is None:
            return b""
        self._bookmarked = self._watch.version
        return self._renderer.bookmark(self._watch.version)

    async def _wait(self, send: Send) -> None:
        """Wait for news; a watch that wants bookmarks gets one now and then meanwhile."""
        if not self._options.allow_bookmarks:
            await self._news.wait()
            return
        try:
            async with asyncio.timeout(self._bookmark_seconds):
                await self._news.wait()
        except TimeoutError:
            if not self._faults.is_held(self._call):
                await send(self._bookmark())

    async def _farewell(self, send: Send) -> None:
        """A last bookmark, so that the next watch goes on where this one ended."""
        told = self._watch is None or self._watch.version == self._bookmarked
        if self._options.allow_bookmarks and not told and not self._faults.is_held(self._call):
            await send(self._bookmark())
