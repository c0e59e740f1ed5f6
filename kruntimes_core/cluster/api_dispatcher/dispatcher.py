"""Sends the engine's requests to the API server, so many at a time, and tells the engine the answers."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine

from kruntimes_core.cluster.api_dispatcher.answers import NOT_SENT, RunReader, write_answer
from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.cluster.client.transport import Call, NotSentError, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Level, Log
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

FIELD_MANAGER = "kruntimes-scheduler"
_PATCH = {
    "content-type": "application/merge-patch+json",
    # The answer is needed for its version alone; a Run can carry 256 KiB of source.
    "accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
}
# More than a limit can be late by on a machine that does ten things at once.
_GRACE_SECONDS = 30.0

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Dispatcher(ABC):
    """Takes one request after the other from the engine's call queue, and sends the reads.

    What becomes of a write is up to the two kinds: `ApiDispatcher` and `DryRunDispatcher`.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        clock: Clock,
        reader: RunReader,
        freed: Callable[[], None],
        in_flight: int,
        timeout_seconds: float,
    ) -> None:
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """(request: `read`, `bind`, ...; its outcome: `Applied`, `Refused`, ...) to how often."""
        self._engine = engine
        self._clock = clock
        self._reader = reader
        self._freed = freed
        self._most_in_flight = in_flight
        self._timeout_seconds = timeout_seconds
        self._spawn: Spawn = asyncio.create_task
        self._calls: dict[asyncio.Task[None], tuple[Request, float]] = {}
        """The requests in flight, each in a task of its own, with when it began."""

    def start(self, spawn: Spawn) -> None:
        """Begin. spawn: makes a task of a request, and ends the host for one that ends with a defect."""
        self._spawn = spawn

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""
        return len(self._calls)

    @property
    def overdue(self) -> int:
        """How many requests go on far beyond their limit: a defect, because each has a limit of its own."""
        began = asyncio.get_running_loop().time() - self._timeout_seconds - _GRACE_SECONDS
        return sum(at < began for _, at in self._calls.values())

    def send_next(self, now: Now) -> bool:
        """Take the next request; False if there is none, or no place for it. now: this moment.

        A request is taken only when there is a place, so that the engine checks a bind when it leaves.
        """
        if len(self._calls) >= self._most_in_flight:
            return False
        request = self._engine.next_request(now)
        if request is None:
            return False
        if isinstance(request, Read):
            self._begin(request, self._read(request))
        else:
            self._take(request, now)
        return True

    async def settle(self) -> None:
        """Wait until every request in flight was answered; each has its own time limit."""
        while self._calls:
            await asyncio.wait(set(self._calls))

    @abstractmethod
    def unknown_outcomes(self, since: int) -> int:
        """How many writes may have been applied, or may still be, since that moment (in ticks)."""

    @abstractmethod
    def abandon(self) -> None:
        """Let no write that is under way reach the server, if it has not yet."""

    # For the two kinds

    @abstractmethod
    def _take(self, write: Write, now: Now) -> None:
        """The engine handed out a write."""

    @abstractmethod
    def _was_read(self, read: Read, answer: ReadAnswer) -> None:
        """A read was answered, and the engine was told."""

    @abstractmethod
    def _cancelled(self, request: Request) -> None:
        """A request was cancelled, perhaps before the first step of its task."""

    def _begin(self, request: Request, call: Coroutine[None, None, None]) -> None:
        def done(task: asyncio.Task[None]) -> None:
            del self._calls[task]
            if task.cancelled():
                self._cancelled(request)
            self._freed()

        task = self._spawn(call)
        self._calls[task] = request, asyncio.get_running_loop().time()
        task.add_done_callback(done)

    async def _read(self, read: Read) -> None:
        answer = await self._reader.read(read)
        self._engine.read(read, answer, self._clock.now())
        self.outcomes["read", type(answer).__name__] += 1
        self._was_read(read, answer)


class ApiDispatcher(Dispatcher):
    """Sends each write to the API server."""

    def __init__(
        self,
        *,
        engine: Engine,
        transport: Transport,
        clock: Clock,
        reader: RunReader,
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
        super().__init__(
            engine=engine,
            clock=clock,
            reader=reader,
            freed=freed,
            in_flight=in_flight,
            timeout_seconds=timeout_seconds,
        )
        self._transport = transport
        self._log = log
        self._answered = answered
        self._query = (("fieldManager", FIELD_MANAGER), ("timeout", f"{timeout_seconds:g}s"))
        self._as_json = json.JSONEncoder(separators=(",", ":")).encode
        self._unknown = UnknownOutcomes(engine)

    def unknown_outcomes(self, since: int) -> int:
        """See `Dispatcher`."""
        return self._unknown.since(since)

    def abandon(self) -> None:
        """Close the connections of writes under way: their outcomes are unknown."""
        for task, (request, _) in list(self._calls.items()):
            if isinstance(request, Write):
                task.cancel()

    def _take(self, write: Write, now: Now) -> None:
        self._begin(write, self._write(write))

    async def _write(self, write: Write) -> None:
        try:
            response = await self._transport.request(self._patch(write))
        except TransportError as error:
            answer: WriteAnswer = NOT_SENT if isinstance(error, NotSentError) else OutcomeUnknown()
            now = self._clock.now()
        else:
            now = self._clock.now()
            answer = write_answer(response, now.wall)
        self._written(write, answer, now)
        self.outcomes[write.kind.value, type(answer).__name__] += 1
        self._pass_on(write, write.kind.value, answer)

    def _patch(self, write: Write) -> Call:
        return Call(
            method="PATCH",
            path=RUNS.path(write.namespace, write.name, "status"),
            query=self._query,
            headers=_PATCH,
            body=self._as_json(write.body).encode(),
            timeout_seconds=self._timeout_seconds,
        )

    def _cancelled(self, request: Request) -> None:
        if isinstance(request, Write):
            self._written(request, OutcomeUnknown(), self._clock.now())

    def _written(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        self._unknown.written(write, answer, now.ticks)
        self._engine.written(write, answer, now)

    def _was_read(self, read: Read, answer: ReadAnswer) -> None:
        self._pass_on(read, "read", answer)

    def _pass_on(self, request: Request, kind: str, answer: WriteAnswer | ReadAnswer) -> None:
        if self._log.speaks(Level.TRACE):
            run = f"{request.namespace}/{request.name}"
            self._log.trace("answered", request=kind, run=run, answer=answer)
        self._answered(request, answer)


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
