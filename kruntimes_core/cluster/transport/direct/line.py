"""One connection: a request at a time, and its answer until then or then."""

from __future__ import annotations

import asyncio
import socket

from kruntimes_core.cluster.transport.direct.answer import Answer, BrokenError
from kruntimes_core.cluster.transport.direct.heads import MalformedError

_MOST_UNREAD = 2**20
"""Bytes of a stream that nobody took yet: then the server has to wait."""


class Line(asyncio.Protocol):
    """A protocol of asyncio. What is sent on it is sent in the step that asks for it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer: Answer | None = None
        self._paused = False
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.idle_since: float | None = None
        """When its last answer had ended; None before the first one has."""

    @property
    def usable(self) -> bool:
        """Whether another request may be sent on it now."""
        last, transport = self._answer, self._transport
        if transport is None or transport.is_closing():
            return False
        return last is None or (last.ended and last.head is not None and last.head.lasting)

    def send(self, request: bytes, deadline: float) -> Answer:
        """Hand a request to the socket. Its answer fails at `deadline`, in the loop's time."""
        answer = self._answer = Answer(self._loop)
        self._limit(deadline)
        if self._transport is None or self._transport.is_closing():
            answer.end(BrokenError())
        else:
            self._transport.write(request)
        return answer

    def took(self) -> None:
        """Something of the answer was taken: there is room again."""
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def close(self) -> None:
        """Drop the connection, with all that is still to be sent on it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    # As a protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        sock = transport.get_extra_info("socket")
        if sock is not None:
            # What a machine between forgot is found by this where nothing is asked for long.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        answer = self._answer
        if answer is None or answer.ended:
            self.close()  # Nobody asked: whatever this is an answer to, it is not to what is asked next.
            return
        try:
            ended = answer.feed(data)
        except MalformedError as error:
            answer.end(error)
            self.close()
            return
        if ended:
            self.idle_since = self._loop.time()
        elif answer.streamed and answer.size > _MOST_UNREAD:
            self._pause()

    def eof_received(self) -> None:
        """See `asyncio.Protocol`; it closes."""

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.close()
        if self._answer is not None:
            self._answer.end(error or BrokenError())

    def _pause(self) -> None:
        if self._transport is not None and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    # Limit

    def _limit(self, deadline: float) -> None:
        """One timer serves many requests: it is set anew only when it rings, or would ring too late."""
        self._deadline = deadline
        if self._timer is not None:
            if self._timer.when() <= deadline:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(deadline, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._answer is None or self._answer.ended:
            return
        if self._loop.time() < self._deadline:
            self._limit(self._deadline)
            return
        self._answer.end(TimeoutError())
        self.close()
