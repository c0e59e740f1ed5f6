"""Sends the engine's requests to the API server, so many at a time, and tells the engine the answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine

from kruntimes_core.cluster.api_dispatcher.answers import NOT_SENT, RunReader, write_answer
from kruntimes_core.cluster.api_dispatcher.protocol import Spawn
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observing.log import Level, Log
from kruntimes_core.cluster.resources import RUNS
from kruntimes_core.cluster.transport.protocol import Call, NotSentError, Transport, TransportError
from kruntimes_core.engine.api_calls import (
    Applied,
    OutcomeUnknown,
    Read,
    ReadAnswer,
    Request,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.decode import Decoder

FIELD_MANAGER = "kruntimes-scheduler"
_PATCH = {
    "content-type": "application/merge-patch+json",
    # The answer is needed for its version alone; a Run can carry 256 KiB of source.
    "accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
}
# More than a limit can be late by on a machine that does ten things at once.
_GRACE_SECONDS = 30.0


class ApiDispatcher:
    """A `Dispatcher` that sends each request in a task of its own."""

    def __init__(
        self,
        *,
        engine: Engine,
        transport: Transport,
        clock: Clock,
        decoder: Decoder,
        log: Log,
        answered: Callable[[Request, WriteAnswer | ReadAnswer], None],
        freed: Callable[[], None],
        in_flight: int = 32,
        timeout_seconds: float = 4.0,
    ) -> None:
        """answered: called after the engine was told an answer. freed: called when there is a place again.

        in_flight: requests at a time. timeout_seconds: limit of each one, here and at the server; at
        most lease duration - renew deadline - 1 s (semantics, Leading).
        """
        self._engine = engine
        self._transport = transport
        self._clock = clock
        self._log = log
        self._answered = answered
        self._freed = freed
        self._timeout_seconds = timeout_seconds
        self._query = (("fieldManager", FIELD_MANAGER), ("timeout", f"{timeout_seconds:g}s"))
        self._as_json = json.JSONEncoder(separators=(",", ":")).encode
        self._calls = InFlightCalls(limit=in_flight, timeout_seconds=timeout_seconds)
        self._unknown = UnknownOutcomes(engine)
        self._reader = RunReader(
            transport=transport, clock=clock, decoder=decoder, timeout_seconds=timeout_seconds
        )
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """See `Dispatcher`."""

    def start(self, spawn: Spawn) -> None:
        """See `Dispatcher`."""
        self._calls.spawn_with(spawn)

    @property
    def in_flight(self) -> int:
        """See `Dispatcher`."""
        return len(self._calls)

    @property
    def overdue(self) -> int:
        """See `Dispatcher`."""
        return self._calls.overdue

    def send_next(self, now: Now) -> bool:
        """Take the next request and send it; False if there is none, or no place for it.

        A request is taken only when there is a place, so that the engine checks a bind when it leaves.
        """
        if self._calls.full:
            return False
        request = self._engine.next_request(now)
        if request is None:
            return False
        self._calls.add(request, self._send(request), self._ended)
        return True

    def unknown_outcomes(self, since: int) -> int:
        """See `Dispatcher`."""
        return self._unknown.since(since)

    async def settle(self) -> None:
        """Wait until every request in flight was answered; each has its own time limit."""
        await self._calls.settle()

    def abandon(self) -> None:
        """Close the connections of writes under way: their outcomes are unknown."""
        self._calls.cancel_writes()

    # One request

    async def _send(self, request: Request) -> None:
        if isinstance(request, Write):
            answer: WriteAnswer | ReadAnswer = await self._write(request)
            kind = request.kind.value
        else:
            answer = await self._read(request)
            kind = "read"
        self.outcomes[kind, type(answer).__name__] += 1
        if self._log.speaks(Level.TRACE):
            run = f"{request.namespace}/{request.name}"
            self._log.trace("answered", request=kind, run=run, answer=answer)
        self._answered(request, answer)

    async def _write(self, write: Write) -> WriteAnswer:
        call = Call(
            method="PATCH",
            path=RUNS.path(write.namespace, write.name, "status"),
            query=self._query,
            headers=_PATCH,
            body=self._as_json(write.body).encode(),
            timeout_seconds=self._timeout_seconds,
        )
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            answer: WriteAnswer = NOT_SENT if isinstance(error, NotSentError) else OutcomeUnknown()
            now = self._clock.now()
        else:
            now = self._clock.now()
            answer = write_answer(response, now.wall)
        self._written(write, answer, now)
        return answer

    async def _read(self, read: Read) -> ReadAnswer:
        answer = await self._reader.read(read)
        self._engine.read(read, answer, self._clock.now())
        return answer

    def _ended(self, task: asyncio.Task[None], request: Request) -> None:
        if task.cancelled() and isinstance(request, Write):
            # Here and not in the task: one that is cancelled before its first step never runs.
            self._written(request, OutcomeUnknown(), self._clock.now())
        self._freed()

    def _written(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        self._unknown.written(write, answer, now.ticks)
        self._engine.written(write, answer, now)


class InFlightCalls:
    """The requests under way, at most so many: each a task, with when it began."""

    def __init__(self, *, limit: int, timeout_seconds: float) -> None:
        """limit: requests at a time. timeout_seconds: each one's own limit."""
        self._spawn: Spawn = asyncio.create_task
        self._limit = limit
        self._timeout_seconds = timeout_seconds
        self._tasks: dict[asyncio.Task[None], tuple[Request, float]] = {}

    def spawn_with(self, spawn: Spawn) -> None:
        """See `Dispatcher.start`."""
        self._spawn = spawn

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def full(self) -> bool:
        """Whether there is no place for one more."""
        return len(self) >= self._limit

    @property
    def overdue(self) -> int:
        """See `Dispatcher`."""
        began = asyncio.get_running_loop().time() - self._timeout_seconds - _GRACE_SECONDS
        return sum(at < began for _, at in self._tasks.values())

    def add(
        self,
        request: Request,
        call: Coroutine[None, None, None],
        ended: Callable[[asyncio.Task[None], Request], None],
    ) -> None:
        """Begin a request. ended: called with its task at the end, cancelled or not."""

        def done(task: asyncio.Task[None]) -> None:
            del self._tasks[task]
            ended(task, request)

        task = self._spawn(call)
        self._tasks[task] = request, asyncio.get_running_loop().time()
        task.add_done_callback(done)

    def cancel_writes(self) -> None:
        """Cancel every write under way; reads go on."""
        for task, (request, _) in list(self._tasks.items()):
            if isinstance(request, Write):
                task.cancel()

    async def settle(self) -> None:
        """Wait until all have ended."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))


class UnknownOutcomes:
    """Each write whose outcome is unknown, until it cannot be applied any more: its Run went on, or is gone.

    While there is one, the Lease is not released.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writes: dict[tuple[str, str], tuple[Write, int]] = {}

    def written(self, write: Write, answer: WriteAnswer, now: int) -> None:
        """Take note of an answer. Call it before the engine is told. now: in ticks."""
        if isinstance(answer, OutcomeUnknown):
            # The newest is enough: it bears the same guard as the one before, or proves that one dead.
            self._writes[write.namespace, write.uid] = write, now
        elif isinstance(answer, Applied):
            self._writes.pop((write.namespace, write.uid), None)

    def since(self, moment: int) -> int:
        """How many there are whose outcome became unknown at `moment` (ticks) or later."""
        self._writes = {
            key: (write, at)
            for key, (write, at) in self._writes.items()
            if at >= moment and self._may_be_applied(write)
        }
        return len(self._writes)

    def _may_be_applied(self, write: Write) -> bool:
        """Whether the Run still is in the version that guards the write, as far as is known."""
        entry = self._engine.find(write.namespace, write.name)
        if entry is None or entry.run.uid != write.uid:
            return False
        return entry.floor == write.guard
