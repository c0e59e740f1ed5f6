"""Watches on their way through the proxy: held back, cut, or with words put into the server's mouth."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

from faultproxy.requests import chunk


class Stream:
    """One open watch."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._left: int | None = None

    async def pass_on(self, piece: bytes) -> None:
        """Pass on what came, and wait while the client does not take it."""
        self.send(piece)
        await self._writer.drain()

    def end(self) -> None:
        """Say that it has ended, as a server does."""
        self._writer.write(chunk(b""))

    def send(self, piece: bytes) -> None:
        """Pass these bytes on, and break the connection where it is to be cut."""
        passed = piece if self._left is None else piece[: self._left]
        if passed:
            self._writer.write(chunk(passed))
        if self._left is not None:
            self._left -= len(passed)
            if self._left == 0:
                # What was written still goes out; what the client waits for never comes.
                self._writer.close()

    def cut(self, after_bytes: int) -> None:
        """Break the connection, now or when so many bytes have passed."""
        if after_bytes == 0:
            self._writer.transport.abort()
        self._left = after_bytes


class Streams:
    """The watches on one resource, those that are open and those to come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._loop = loop
        self._open: set[Stream] = set()
        self._changed = threading.Condition()
        self.opened = 0
        """How many were opened so far."""
        self.late_seconds = 0.0
        """How much later the client gets to know of what comes."""

    # For tests

    def hold(self) -> None:
        """Let nothing through."""
        asyncio.run_coroutine_threadsafe(self._set(flowing=False), self._loop).result()

    def release(self) -> None:
        """Let all through that was held, and what comes."""
        asyncio.run_coroutine_threadsafe(self._set(flowing=True), self._loop).result()

    def cut(self, after_bytes: int = 0) -> None:
        """Break those that are open, now or when so many bytes more have passed."""
        self._loop.call_soon_threadsafe(self._each, lambda stream: stream.cut(after_bytes))

    def inject(self, line: bytes) -> None:
        """Say something in the server's name."""
        self._loop.call_soon_threadsafe(self._each, lambda stream: stream.send(line))

    def wait_opened(self, count: int, seconds: float = 20) -> None:
        """Wait until so many were opened in all; fails after `seconds`."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.opened >= count, seconds), self.opened

    # For the proxy

    async def pump(self, writer: asyncio.StreamWriter, pieces: AsyncIterator[bytes]) -> None:
        """Pass on one watch to its end."""
        stream = Stream(writer)
        self._open.add(stream)
        with self._changed:
            self.opened += 1
            self._changed.notify_all()
        arrived: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        arriving = asyncio.create_task(self._arrive(pieces, arrived))
        try:
            while (item := await arrived.get())[1]:
                await self._until(item[0])
                await self._flowing.wait()
                await stream.pass_on(item[1])
            await arriving
            stream.end()
        finally:
            arriving.cancel()
            self._open.discard(stream)

    async def _arrive(
        self, pieces: AsyncIterator[bytes], arrived: asyncio.Queue[tuple[float, bytes]]
    ) -> None:
        """Note when each piece came; an empty one says that no more will come."""
        try:
            async for piece in pieces:
                arrived.put_nowait((self._loop.time() + self.late_seconds, piece))
        finally:
            arrived.put_nowait((0.0, b""))

    async def _until(self, due: float) -> None:
        passed = self._loop.create_future()
        timer = self._loop.call_at(due, passed.set_result, None)
        try:
            await passed
        finally:
            timer.cancel()

    def _each(self, act: Callable[[Stream], None]) -> None:
        for stream in list(self._open):
            act(stream)

    async def _set(self, *, flowing: bool) -> None:
        if flowing:
            self._flowing.set()
        else:
            self._flowing.clear()
