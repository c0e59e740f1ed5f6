"""One answer as it comes in: whoever waits is woken when there is what it waits for, and not before."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.transport.direct.bodies import Body, body_of
from kruntimes_core.cluster.transport.direct.heads import (
    END_OF_HEAD,
    LONGEST_HEAD,
    Head,
    MalformedError,
    read_head,
)


class BrokenError(Exception):
    """The connection ended before the answer did."""


class Answer:
    """Fed by its connection, read by whoever asked."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.head: Head | None = None
        self._ended = False
        self.began = False
        """Whether anything came."""
        self.streamed = False
        """Whether its parts are taken as they come."""
        self.size = 0
        """Bytes of the body that came and were not taken."""
        self._loop = loop
        self._rest = b""
        self._body: Body | None = None
        self._parts: list[bytes] = []
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._whole = False
        """Whether whoever waits, waits for all of it."""

    @property
    def ended(self) -> bool:
        """Whether all of it came."""
        return self._ended

    # Read

    async def whole(self) -> tuple[Head, bytes]:
        """Head and body, once all of it came. Raises why it never will."""
        self._whole = True
        while not self.ended:
            await self._wait()
        if self.head is None:
            raise BrokenError
        return self.head, self.take()

    async def begin(self) -> Head:
        """The head, once it came. Raises why it never will."""
        while self.head is None:
            await self._wait()
        return self.head

    async def part(self) -> bytes:
        """What came of the body since the last look, once there is something; empty at its end."""
        while not (self._parts or self.ended):
            await self._wait()
        return self.take()

    def take(self) -> bytes:
        """What came of the body and was not taken yet."""
        parts, self._parts, self.size = self._parts, [], 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    # Fed

    def feed(self, data: bytes) -> bool:
        """Take in what came; True if that was the end. Raises `MalformedError`."""
        self.began = True
        if self._body is None:
            data = self._feed_head(data)
        if self._body is not None:
            if data:
                part = self._body.feed(data)
                if part:
                    self._parts.append(part)
                    self.size += len(part)
            self._ended = self._body.ended
        if self._ended or (self.head is not None and not self._whole):
            self._wake()
        return self._ended

    def _feed_head(self, data: bytes) -> bytes:
        """What follows the head."""
        data = self._rest + data
        while self._body is None:
            end = data.find(END_OF_HEAD)
            if end < 0:
                if len(data) > LONGEST_HEAD:
                    raise MalformedError("it does not speak HTTP: name the right port")
                self._rest = data
                return b""
            head, data = read_head(data[:end]), data[end + len(END_OF_HEAD) :]
            if not head.interim:
                self.head, self._body, self._rest = head, body_of(head), b""
        return data

    def end(self, error: Exception) -> None:
        """Nothing more will come, because of `error`; that may be all that was to come."""
        if self.ended:
            return
        if self._body is not None and self._body.ends_with_connection and isinstance(error, BrokenError):
            self._ended = True
        else:
            self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
