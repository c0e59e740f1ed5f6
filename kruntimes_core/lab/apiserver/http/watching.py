"""A watch on its way to its client, line by line, until either of them has had enough."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kruntimes_core.lab.apiserver.encoding import Renderer, encode, encode_event
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.requests import ListOptions, RequestInfo
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.watch_cache import Watch

DEFAULT_TIMEOUT_SECONDS = 1800
Send = Callable[[bytes], Awaitable[None]]


class WatchHandler:
    """One watch. `serve` sends it; the other methods may be called meanwhile."""

    def __init__(
        self,
        api: ApiServer,
        info: RequestInfo,
        renderer: Renderer,
        options: ListOptions,
        bookmark_seconds: float,
    ) -> None:
        """Raises `ApiError` for options that make no sense; a 410 is told in the stream."""
        self.info = info
        self._renderer = renderer
        self._options = options
        self._bookmark_seconds = bookmark_seconds
        self._news = asyncio.Event()
        self._first = True
        from_now = options.send_initial_events or options.resource_version == "0"
        self._initial_end_due = from_now and options.allow_bookmarks
        self._bookmark_due = False
        self._bookmarked: int | None = None
        self._injected = b""
        self._held = False
        self._ended = False
        self._watch: Watch | None = None
        self._lost: ApiError | None = None
        try:
            self._watch = api.watch(info.resource, info.place, options, self._news.set)
        except ApiError as error:
            if error.code != 410:
                raise
            self._lost = error

    def inject(self, line: bytes) -> None:
        """Send a text as it is, between two events."""
        self._injected += line
        self._news.set()

    def bookmark(self) -> None:
        """Send a bookmark now."""
        self._bookmark_due = True
        self._news.set()

    def hold(self, held: bool) -> None:
        """Hold events back, or let those that were held go out."""
        self._held = held
        self._news.set()

    def end(self) -> None:
        """End the stream cleanly."""
        self._ended = True
        self._news.set()

    async def serve(self, send: Send) -> None:
        """Serve until the time is up, the client is gone (`send` raises) or the watch is lost."""
        try:
            async with asyncio.timeout(self._options.timeout_seconds or DEFAULT_TIMEOUT_SECONDS):
                await self._serve(send)
        except TimeoutError:
            # A last bookmark, so that the next watch goes on where this one ended.
            if self._watch is not None and self._watch.version != self._bookmarked:
                await self._send_bookmark(send)
        finally:
            if self._watch is not None:
                self._watch.close()

    async def _serve(self, send: Send) -> None:
        while True:
            self._news.clear()
            lines = self._lines()
            if lines:
                await send(lines)
            if self._ended or self._lost is not None:
                return
            await self._wait(send)

    def _lines(self) -> bytes:
        lines, self._injected = self._injected, b""
        if self._watch is not None and not self._held:
            lines += self._events(self._watch)
        if self._lost is not None:
            return lines + encode_event("ERROR", encode(self._lost.as_object()))
        if self._bookmark_due:
            self._bookmark_due = False
            lines += self._bookmark()
        return lines

    def _events(self, watch: Watch) -> bytes:
        try:
            events = watch.pending()
        except ApiError as error:
            self._lost = error
            return b""
        lines = []
        for event in events:
            lines.append(self._renderer.event(event, first=self._first))
            self._first = False
        if self._initial_end_due:
            self._initial_end_due = False
            lines.append(self._bookmark(initial_end=True))
        return b"".join(lines)

    def _bookmark(self, *, initial_end: bool = False) -> bytes:
        if self._watch is None:
            return b""
        self._bookmarked = self._watch.version
        return self._renderer.bookmark(self._watch.version, initial_end=initial_end)

    async def _wait(self, send: Send) -> None:
        """Wait for news; a watch that wants bookmarks gets one now and then meanwhile."""
        try:
            async with asyncio.timeout(self._bookmark_seconds if self._options.allow_bookmarks else None):
                await self._news.wait()
        except TimeoutError:
            await self._send_bookmark(send)

    async def _send_bookmark(self, send: Send) -> None:
        if self._options.allow_bookmarks and not self._held:
            await send(self._bookmark())
