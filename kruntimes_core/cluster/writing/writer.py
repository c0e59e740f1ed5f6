"""Hands the engine's requests to the transport, a bounded number at a time, and the answers back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.resources import RUNS
from kruntimes_core.cluster.transport.protocol import Call, NotSentError, Transport, TransportError
from kruntimes_core.cluster.writing.answers import NOT_SENT, write_answer
from kruntimes_core.cluster.writing.doubts import Doubts
from kruntimes_core.cluster.writing.flights import Flights
from kruntimes_core.cluster.writing.protocol import Spawn
from kruntimes_core.cluster.writing.reading import RunReader
from kruntimes_core.engine.api_calls import (
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


class StatusWriter:
    """Sends one request after the other out of the engine's outbox, as many in flight as allowed."""

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
        """answered: called after the engine was told of an answer. freed: there is a place again.

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
        self._flights = Flights(in_flight, timeout_seconds)
        self._reader = RunReader(transport, clock, decoder, timeout_seconds)
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """See `Writer`."""
        self._doubts = Doubts(engine)

    def start(self, spawn: Spawn) -> None:
        """See `Writer`."""
        self._flights.spawn = spawn

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""
        return len(self._flights)

    def send_next(self, now: Now) -> bool:
        """Take the next request and send it; False if there is none, or no place for it.

        The engine is asked only when there is a place, so that a bind is checked when it leaves.
        """
        if self._flights.full:
            return False
        request = self._engine.next_request(now)
        if request is None:
            return False
        self._flights.start(request, self._send(request), self._ended)
        return True

    def in_doubt(self, since: int) -> int:
        """See `Writer`."""
        return self._doubts.since(since)

    async def settle(self) -> None:
        """Wait until everything in flight was answered; each request has its own time limit."""
        await self._flights.settle()

    def abandon(self) -> None:
        """Close the connections of writes under way: what became of them is in doubt."""
        for task, request in self._flights:
            if isinstance(request, Write):
                task.cancel()

    @property
    def overdue(self) -> int:
        """How many requests go on far beyond their limit: nothing in here should."""
        return self._flights.overdue

    # Inside

    def _ended(self, task: asyncio.Task[None], request: Request) -> None:
        if task.cancelled() and isinstance(request, Write):
            # Here and not in the task: one that is cancelled before its first step never runs.
            self._concluded(request, OutcomeUnknown(), self._clock.now())
        self._freed()

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
        self._concluded(write, answer, now)
        return answer

    def _concluded(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        self._doubts.written(write, answer, now.ticks)
        self._engine.written(write, answer, now)

    async def _read(self, read: Read) -> ReadAnswer:
        answer = await self._reader.read(read)
        self._engine.read(read, answer, self._clock.now())
        return answer
