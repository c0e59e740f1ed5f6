"""One replica's line to the server: what it handed over, when, and what happened on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from virtual.calls import Target, target

from kruntimes_core.cluster.client.transport import (
    Call,
    Gate,
    MaybeSentError,
    NotSentError,
    Response,
    StreamRefusedError,
    Transport,
)
from kruntimes_core.model.times import parse_duration
from kruntimes_core.testing.harness import BrokenInvariantError

Fault = Callable[[Call], Awaitable[Response | None]]
"""May answer in place of the server, raise, or wait; None lets the call go on."""


@dataclass(frozen=True)
class Sent:
    """A write whose bytes were handed over."""

    at: float
    replica: str
    term: int
    what: Target


@dataclass
class Traffic:
    """What all replicas handed over, in order; and the promises that were broken by it."""

    sent: list[Sent] = field(default_factory=list)
    binds: list[Sent] = field(default_factory=list)
    """The binds that the server accepted, in order."""
    broken: list[str] = field(default_factory=list)


class Wire:
    """A `Transport`. A request that was handed over arrives, whatever its client does meanwhile."""

    def __init__(
        self, name: str, server: Transport, traffic: Traffic, term: Callable[[], int], gate: Gate | None
    ) -> None:
        self.before: list[Fault] = []
        """Strike before the bytes are handed over."""
        self.after: list[Fault] = []
        """Strike before the server looks at the request: there it does not matter who waits."""
        self.held_seconds: Callable[[Target], float] = lambda what: 0.0
        """How long the network keeps a request: the server's own limit begins after that."""
        self.slow_seconds: Callable[[Target], float] = lambda what: 0.0
        """How long the server takes: it gives up at the limit that the request names."""
        self.late_seconds: Callable[[Target], float] = lambda what: 0.0
        """How long an answer is on its way back."""
        self.deaf_to: set[str] = set()
        """Resources whose watches tell nothing meanwhile; what happens is told later."""
        self.cut = False
        """Streams break at their next word."""
        self.dead = False
        """Nothing comes or goes any more."""
        self._name = name
        self._server = server
        self._traffic = traffic
        self._term = term
        self._gate = gate
        self._arriving: set[asyncio.Task[Response]] = set()

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        sent = False
        try:
            async with asyncio.timeout(call.timeout_seconds):
                answer = await _struck(self.before, call)
                if answer is not None:
                    return answer
                self._hand_over(call)
                sent = True
                arriving = asyncio.create_task(self._arrive(call))
                self._arriving.add(arriving)
                arriving.add_done_callback(self._arriving.discard)
                answer = await asyncio.shield(arriving)
                await self._while_dead()
                return answer
        except TimeoutError as error:
            kind = MaybeSentError if sent or call.body is None else NotSentError
            raise kind(f"no answer within {call.timeout_seconds:g} s") from error

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        answer = await _struck(self.after, call)
        if answer is not None:
            raise StreamRefusedError(answer)
        async with aclosing(self._server.stream(call)) as chunks:
            async for chunk in chunks:
                await self._while_dead()
                while target(call).plural in self.deaf_to:
                    await asyncio.sleep(0.1)
                if self.cut:
                    raise MaybeSentError("the connection broke")
                yield chunk

    async def close(self) -> None:
        """See `Transport`."""

    def _hand_over(self, call: Call) -> None:
        """The step in which the bytes go to the socket."""
        if call.body is None:
            return
        if self.dead or not all(gate() for gate in (self._gate, call.gate) if gate is not None):
            raise NotSentError("the gate is closed")
        now = asyncio.get_running_loop().time()
        self._traffic.sent.append(Sent(now, self._name, self._term(), target(call)))

    async def _arrive(self, call: Call) -> Response:
        what, term = target(call), self._term()
        await asyncio.sleep(self.held_seconds(what))
        limit = parse_duration(dict(call.query).get("timeout")) or 60.0
        slow = self.slow_seconds(what)
        await asyncio.sleep(min(slow, limit))
        if slow > limit:
            return Response(504)
        answer = await _struck(self.after, call)
        if answer is not None:
            return answer
        try:
            answer = await self._server.request(call)
        except BrokenInvariantError as broken:
            self._traffic.broken.append(f"{self._name}: {broken}")
            return Response(200, b'{"metadata": {"resourceVersion": "0"}}')
        if what.verb == "patch" and answer.status == 200 and b'"assignedPod"' in (call.body or b""):
            now = asyncio.get_running_loop().time()
            self._traffic.binds.append(Sent(now, self._name, term, what))
        await asyncio.sleep(self.late_seconds(what))
        return answer

    async def _while_dead(self) -> None:
        if self.dead:
            await asyncio.get_running_loop().create_future()


async def _struck(faults: list[Fault], call: Call) -> Response | None:
    for fault in list(faults):
        answer = await fault(call)
        if answer is not None:
            return answer
    return None
