"""What goes wrong with a request, and how often it did."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, field

from faultproxy.requests import Match, Request


@dataclass(frozen=True)
class Reply:
    """An answer that the proxy gives in the server's place."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def refusal(
    code: int, reason: str = "", message: str = "of the proxy", token: str = "", **headers: str
) -> Reply:
    """A refusal as an API server words it. token: for a list to go on with. headers: `Retry_After="1"`."""
    status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {"continue": token}}
    status |= {"status": "Failure", "code": code, "reason": reason, "message": message}
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(code, (("Content-Type", "application/json"), *fields), json.dumps(status).encode())


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to a request, in this order; by default, nothing."""

    holds_request: bool = False
    """It waits before the server gets it, until it is released."""
    query: dict[str, str] = field(default_factory=dict)
    """Parameters that the server gets in the place of those that were sent."""
    forwarded: bool = True
    """The server gets it at all."""
    holds_answer: bool = False
    """The server has done it, and the answer waits until it is released."""
    seconds: float | None = None
    """After so long a hold ends by itself."""
    answer: Reply | None = None
    """The client gets this in the place of the server's answer."""
    dropped: bool = False
    """The client gets no answer: its connection breaks."""


class Disturbance:
    """A fault that is in force for the requests that it meets; made by `FaultProxy.disturb`."""

    def __init__(
        self, match: Match, fault: Fault, times: int | None, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.fault = fault
        self._match = match
        self._left = times
        self._loop = loop
        self._released = asyncio.Event()
        self._changed = threading.Condition()
        self.hits = 0
        """How many requests it has met."""

    # For tests

    def hit(self, times: int = 1, seconds: float = 20) -> None:
        """Wait until it has met so many requests; fails after `seconds`."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.hits >= times, seconds), (self._match, self.hits)

    def release(self) -> None:
        """Let what is held go on, now and from now on."""
        self._loop.call_soon_threadsafe(self._released.set)

    def end(self) -> None:
        """Meet no further request, and let go what is held."""
        with self._changed:
            self._left = 0
        self.release()

    # For the proxy

    def meets(self, request: Request) -> bool:
        """Whether it is in force for a request; if so, that counts."""
        if not self._match(request):
            return False
        with self._changed:
            if self._left == 0:
                return False
            if self._left is not None:
                self._left -= 1
        return True

    def note(self) -> None:
        """A request is at the place where this does its harm."""
        with self._changed:
            self.hits += 1
            self._changed.notify_all()

    async def hold(self) -> None:
        """Wait until it is released, or its time is up."""
        try:
            async with asyncio.timeout(self.fault.seconds):
                await self._released.wait()
        except TimeoutError:
            return
