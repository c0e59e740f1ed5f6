"""What goes wrong with a request, and how often it did."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from virtual.calls import Target
from yarl import URL


class Request(NamedTuple):
    """One request that came."""

    about: Target
    url: URL
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Match:
    """Which requests are meant."""

    verb: str
    plural: str
    name: str = ""
    """Empty: of any object."""
    later_page: bool = False
    """Of a list, a page after the first."""

    def __call__(self, request: Request) -> bool:
        """Whether a request is meant."""
        return (
            request.about.kind == (self.verb, self.plural)
            and self.name in ("", request.about.name)
            and (not self.later_page or "continue" in request.url.query)
        )


@dataclass(frozen=True)
class Reply:
    """An answer that the proxy gives in the server's place."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refusal(
    code: int, reason: str = "", message: str = "of the proxy", token: str = "", **headers: str
) -> Reply:
    """A refusal as an API server words it. token: for a list to go on with. headers: `Retry_After="1"`."""
    status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {"continue": token}}
    status |= {"status": "Failure", "code": code, "reason": reason, "message": message}
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(code, {"Content-Type": "application/json", **fields}, json.dumps(status).encode())


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens to a request, in this order; by default, nothing."""

    holds_request: bool = False
    """It waits before the server gets it, until it is released."""
    seconds: float | None = None
    """After so long it is released by itself."""
    query: dict[str, str] = field(default_factory=dict)
    """Parameters that the server gets in the place of those that were sent."""
    forwarded: bool = True
    """The server gets it at all."""
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
        self._hits = 0

    # For tests

    def hit(self, times: int = 1, seconds: float = 20) -> None:
        """Wait until it has met so many requests; fails after `seconds`."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._hits >= times, seconds), (self._match, self._hits)

    def release(self) -> None:
        """Let what is held go on, now and from now on."""
        self._loop.call_soon_threadsafe(self._released.set)

    # For the proxy

    def meets(self, request: Request) -> bool:
        """Whether it is in force for a request; if so, that counts."""
        if self._left == 0 or not self._match(request):
            return False
        if self._left is not None:
            self._left -= 1
        return True

    def note(self) -> None:
        """A request is at the place where this does its harm."""
        with self._changed:
            self._hits += 1
            self._changed.notify_all()

    async def hold(self) -> None:
        """Wait until it is released, or its time is up."""
        try:
            async with asyncio.timeout(self.fault.seconds):
                await self._released.wait()
        except TimeoutError:
            return
