"""The API dispatcher: sends the engine's calls, so many at a time, and tells it what answers prove."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime

from pydantic_core import from_json

from kruntimes_core.cluster.client.errors import Status, retry_after, status_of
from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.cluster.client.transport import Call, NotSentError, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.engine.api_calls import (
    Applied,
    CallPriority,
    Found,
    NotFound,
    OutcomeUnknown,
    Read,
    ReadAnswer,
    Refused,
    Request,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.clock import SECOND, Now
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

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]

NOT_SENT = Refused(0)
"""The write never left this process, so it was not applied: the surest of all refusals."""


def write_answer(response: Response, wall: datetime) -> WriteAnswer:
    """Applied, refused, or with an unknown outcome."""
    if response.status in (200, 201):
        version = _version(response.body)
        return Applied(version) if version else OutcomeUnknown()
    if not 400 <= response.status < 500 or response.status == 408:
        return OutcomeUnknown(retry_after(response.headers.get("retry-after"), wall))
    status = status_of(response, wall)
    if _is_not_about_a_run(status):
        return OutcomeUnknown(status.retry_after)
    return Refused(response.status, status.retry_after)


def read_answer(response: Response, wall: datetime, decoder: Decoder) -> ReadAnswer:
    """The Run as it was read, or that there is none; an unknown outcome for everything else."""
    if response.status == 200:
        try:
            body = from_json(response.body)
        except ValueError:
            return OutcomeUnknown()
        observation = decoder.run(body) if isinstance(body, Mapping) else None
        if observation is None or not (observation.version and observation.run.uid):
            return OutcomeUnknown()
        return Found(observation)
    status = status_of(response, wall)
    if response.status == 404 and not _is_not_about_a_run(status):
        return NotFound()
    return OutcomeUnknown(status.retry_after)


def _is_not_about_a_run(status: Status) -> bool:
    """Whether a 404 came from something before the API server, or speaks of a path and not of a Run."""
    return status.code == 404 and not (status.is_api and status.reason == "NotFound")


def _version(body: bytes) -> str:
    try:
        version = from_json(body)["metadata"]["resourceVersion"]
    except (ValueError, TypeError, KeyError):
        return ""
    return version if isinstance(version, str) else ""


# One other call in so many ticks beside placements: 20,000 texts are written within 9 minutes.
_PACE = SECOND // 40
# So long after the last placement there are none to give way to.
_PLACING = SECOND
# After so many calls for placements the other calls have a turn, or they might never have one.
_PLACEMENTS_IN_A_ROW = 4


class RequestShares:
    """Divides the requests in flight between calls that placements wait for, and all others.

    Others have an eighth of the requests, and a turn only while no call for a placement waits; as long as
    Runs are being placed, they have one turn in 25 ms. They cannot starve: after four calls for placements,
    the next turn is theirs. So they get a fifth of the calls, or 40 a second, whichever is fewer.
    """

    def __init__(self, in_flight: int) -> None:
        """in_flight: requests at a time, of all priorities."""
        self.most_others = max(1, in_flight // 8)
        self.next_other_at = 0
        """When an other call has its turn at the earliest, in ticks."""
        self._placed_at: int | None = None
        self._placements = 0
        """How many calls for placements were sent since the last other one."""

    def turns(self, others: int, now: int) -> Sequence[CallPriority]:
        """The priorities that have a turn now, first the one that is to go first. others: those in flight."""
        if others >= self.most_others or now < self.next_other_at:
            return (CallPriority.PLACEMENT,)
        if self._placements >= _PLACEMENTS_IN_A_ROW:
            return (CallPriority.OTHER, CallPriority.PLACEMENT)
        return (CallPriority.PLACEMENT, CallPriority.OTHER)

    def sent(self, priority: CallPriority, now: int) -> None:
        """Take note of a call that leaves now."""
        placing = self._placed_at is not None and now - self._placed_at < _PLACING
        if priority is CallPriority.OTHER:
            self._placements = 0
            # A turn that came late takes nothing from those after it.
            self.next_other_at = max(self.next_other_at + _PACE, now) if placing else now
            return
        self._placements += 1
        self._placed_at = now
        if not placing:
            self.next_other_at = now + _PACE


class ApiDispatcher:
    """Takes one call after the other from the engine's call queue, and sends each in a task of its own."""

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
        take_write: Callable[[Write], None] | None = None,
        in_flight: int = 32,
        timeout_seconds: float = 4.0,
    ) -> None:
        """answered: called after the engine was told an answer. freed: called when there is a place again.

        take_write: in a dry run, takes each write, so that reads alone are sent.
        in_flight: requests at a time. timeout_seconds: limit of each one, here and at the server; at
        most lease duration - renew deadline - 1 s (semantics, Leading).
        """
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """(request: `read`, `bind`, ...; its outcome: `Applied`, `Refused`, ...) to how often."""
        self._engine = engine
        self._transport = transport
        self._clock = clock
        self._decoder = decoder
        self._log = log
        self._answered = answered
        self._freed = freed
        self._take_write = take_write
        self._most_in_flight = in_flight
        self._shares = RequestShares(in_flight)
        self._timeout_seconds = timeout_seconds
        self._query = (("fieldManager", FIELD_MANAGER), ("timeout", f"{timeout_seconds:g}s"))
        self._as_json = json.JSONEncoder(separators=(",", ":")).encode
        self._unknown = UnknownOutcomes(engine)
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

    def wake_at(self, now: int) -> int | None:
        """When other calls have their next turn, in ticks; None if they have it now, or none waits."""
        at = self._shares.next_other_at
        return at if at > now and self._engine.waits(CallPriority.OTHER) else None

    @property
    def overdue(self) -> int:
        """How many requests go on far beyond their limit: a defect, because each has a limit of its own."""
        began = asyncio.get_running_loop().time() - self._timeout_seconds - _GRACE_SECONDS
        return sum(at < began for _, at in self._calls.values())

    def unknown_outcomes(self, since: int) -> int:
        """How many writes may have been applied, or may still be, since that moment (in ticks)."""
        return self._unknown.since(since)

    def send_next(self, now: Now) -> bool:
        """Take the next request; False if there is none, or no place for it. now: this moment.

        A request is taken only when there is a place, so that the engine checks a bind when it leaves.
        """
        if len(self._calls) >= self._most_in_flight:
            return False
        request = self._engine.next_request(now, self._turns(now))
        if request is None:
            return False
        self._shares.sent(request.priority, now.ticks)
        if isinstance(request, Read):
            self._begin(request, self._read(request))
        elif self._take_write is None:
            self._begin(request, self._write(request))
        else:
            self._take_write(request)
        return True

    async def settle(self) -> None:
        """Wait until every request in flight was answered; each has its own time limit."""
        while self._calls:
            await asyncio.wait(set(self._calls))

    def abandon(self) -> None:
        """Close the connections of writes under way: their outcomes are unknown."""
        for task, (request, _) in list(self._calls.items()):
            if isinstance(request, Write):
                task.cancel()

    # Inside

    def _turns(self, now: Now) -> Sequence[CallPriority]:
        """The priorities that have a turn now. In a dry run no write leaves: there is nothing to divide."""
        if self._take_write is not None:
            return tuple(CallPriority)
        others = sum(request.priority is CallPriority.OTHER for request, _ in self._calls.values())
        return self._shares.turns(others, now.ticks)

    def _begin(self, request: Request, call: Coroutine[None, None, None]) -> None:
        def done(task: asyncio.Task[None]) -> None:
            del self._calls[task]
            # A task may be cancelled before its first step.
            if task.cancelled() and isinstance(request, Write):
                self._written(request, OutcomeUnknown(), self._clock.now())
            self._freed()

        task = self._spawn(call)
        self._calls[task] = request, asyncio.get_running_loop().time()
        task.add_done_callback(done)

    async def _read(self, read: Read) -> None:
        """Read a Run consistently: without a resourceVersion the server answers from the store itself."""
        path = RUNS.path(read.namespace, read.name)
        try:
            response = await self._transport.request(
                Call(method="GET", path=path, timeout_seconds=self._timeout_seconds)
            )
        except TransportError:
            answer: ReadAnswer = OutcomeUnknown()
        else:
            answer = read_answer(response, self._clock.now().wall, self._decoder)
        self._engine.read(read, answer, self._clock.now())
        self._note(read, "read", answer)

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
        self._note(write, write.kind.value, answer)

    def _patch(self, write: Write) -> Call:
        return Call(
            method="PATCH",
            path=RUNS.path(write.namespace, write.name, "status"),
            query=self._query,
            headers=_PATCH,
            body=self._as_json(write.body).encode(),
            timeout_seconds=self._timeout_seconds,
        )

    def _written(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        self._unknown.written(write, answer, now.ticks)
        self._engine.written(write, answer, now)

    def _note(self, request: Request, kind: str, answer: WriteAnswer | ReadAnswer) -> None:
        """Count and log an answer that the engine knows, and call back."""
        self.outcomes[kind, type(answer).__name__] += 1
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
