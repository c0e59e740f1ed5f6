"""The API dispatcher: sends the engine's API calls, a bounded number at a time, and reads the answers."""

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
    # Only the version in the answer is needed, and a Run may carry 256 KiB of source.
    "accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
}
# On a busy machine a time limit may end late, but not by as much as this.
_GRACE_SECONDS = 30.0

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]

NOT_SENT = Refused(0)
"""The write never left this process, so it certainly was not applied."""


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
    """The Run that was read, or that it does not exist; every other answer is an unknown outcome."""
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
    """Whether a 404 is about a path and not a Run, or comes from a proxy and not the API server."""
    return status.code == 404 and not (status.is_api and status.reason == "NotFound")


def _version(body: bytes) -> str:
    try:
        version = from_json(body)["metadata"]["resourceVersion"]
    except (ValueError, TypeError, KeyError):
        return ""
    return version if isinstance(version, str) else ""


# Ticks between two other calls while Runs are placed. At this pace 20,000 texts are written within 9 minutes.
_PACE = SECOND // 40
# Ticks after the last call for a placement. Then no Runs are being placed, and other calls need not give way.
_PLACING = SECOND
# After this number of calls for placements the other calls have a turn, because otherwise they might never
# have one.
_PLACEMENTS_IN_A_ROW = 4


class RequestShares:
    """Divides the requests in flight between calls that placements wait for, and all other calls.

    At most an eighth of the requests in flight are other calls. An other call has a turn only while no call
    for a placement waits and, as long as Runs are being placed, only once in 25 ms. But after four calls for
    placements an other call goes next, so that these cannot starve. So other calls get at least a fifth of
    all calls, or 40 a second, whichever is fewer.
    """

    def __init__(self, in_flight: int) -> None:
        """in_flight: requests at a time, of all priorities."""
        self.most_others = max(1, in_flight // 8)
        self.next_other_at = 0
        """The earliest time at which an other call has a turn, in ticks."""
        self._placed_at: int | None = None
        self._placements = 0
        """The number of calls for placements since the last other call."""

    def turns(self, others: int, now: int) -> Sequence[CallPriority]:
        """The priorities that have a turn now, the most urgent first. others: other calls in flight."""
        if others >= self.most_others or now < self.next_other_at:
            return (CallPriority.PLACEMENT,)
        if self._placements >= _PLACEMENTS_IN_A_ROW:
            return (CallPriority.OTHER, CallPriority.PLACEMENT)
        return (CallPriority.PLACEMENT, CallPriority.OTHER)

    def sent(self, priority: CallPriority, now: int) -> None:
        """Note that a call of this priority is sent now."""
        placing = self._placed_at is not None and now - self._placed_at < _PLACING
        if priority is CallPriority.OTHER:
            self._placements = 0
            # A late turn does not delay the turns after it.
            self.next_other_at = max(self.next_other_at + _PACE, now) if placing else now
            return
        self._placements += 1
        self._placed_at = now
        if not placing:
            self.next_other_at = now + _PACE


class ApiDispatcher:
    """Takes calls from the engine's call queue, one after the other, and sends each in a task of its own."""

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
        """answered: called after the engine got an answer. freed: called when a request in flight has ended.

        take_write: in a dry run, gets each write instead of the API server, so that only reads are sent.
        in_flight: how many requests to send at a time. timeout_seconds: the limit of each request, here and
        at the server; at most lease duration - renew deadline - 1 s (semantics, Leading).
        """
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """How often each pair occurred: the request (`read`, `bind`, ...), and its outcome (`Applied`, ...).
        """
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
        """The tasks of the requests in flight, with the request and when it began."""

    def start(self, spawn: Spawn) -> None:
        """Set `spawn`, which starts the task of a request, and ends the host if the task has a defect."""
        self._spawn = spawn

    @property
    def in_flight(self) -> int:
        """The number of requests without an answer."""
        return len(self._calls)

    def wake_at(self, now: int) -> int | None:
        """When the next other call has its turn, in ticks; None if it has its turn now, or if none waits."""
        at = self._shares.next_other_at
        return at if at > now and self._engine.waits(CallPriority.OTHER) else None

    @property
    def overdue(self) -> int:
        """The number of requests that are far beyond their time limit, which only a defect can cause."""
        began = asyncio.get_running_loop().time() - self._timeout_seconds - _GRACE_SECONDS
        return sum(at < began for _, at in self._calls.values())

    def unknown_outcomes(self, since: int) -> int:
        """The number of writes whose outcome became unknown at `since` (ticks) or later, and still is."""
        return self._unknown.since(since)

    def send_next(self, now: Now) -> bool:
        """Send the next request. False if there is none, or if too many are in flight. now: the current time.

        A request is taken from the engine only when it can be sent, because the engine checks a bind at that
        time.
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
        """Wait until every request in flight has an answer, or its time limit has ended it."""
        while self._calls:
            await asyncio.wait(set(self._calls))

    def abandon(self) -> None:
        """Close the connections of writes in flight; their outcomes become unknown."""
        for task, (request, _) in list(self._calls.items()):
            if isinstance(request, Write):
                task.cancel()

    # Inside

    def _turns(self, now: Now) -> Sequence[CallPriority]:
        """The priorities that have a turn now. A dry run sends no writes, so all priorities have a turn."""
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
        """Read a Run consistently: without a resourceVersion, the API server reads from its store."""
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
        """Count and log an answer after the engine got it, and call `answered`."""
        self.outcomes[kind, type(answer).__name__] += 1
        if self._log.speaks(Level.TRACE):
            run = f"{request.namespace}/{request.name}"
            self._log.trace("answered", request=kind, run=run, answer=answer)
        self._answered(request, answer)


class UnknownOutcomes:
    """Writes with an unknown outcome. Each is kept until its Run has another version, or does not exist any
    more: then the write cannot be applied later.

    While there is such a write, the Lease is not released.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writes: dict[tuple[str, str], tuple[Write, int]] = {}

    def written(self, write: Write, answer: WriteAnswer, now: int) -> None:
        """Note an answer. Call this before the engine gets the answer. now: in ticks."""
        if isinstance(answer, OutcomeUnknown):
            # The newest is enough. It has the same guard as the write before, or that write cannot be
            # applied.
            self._writes[write.namespace, write.uid] = write, now
        elif isinstance(answer, Applied):
            self._writes.pop((write.namespace, write.uid), None)

    def since(self, moment: int) -> int:
        """The number of writes whose outcome became unknown at `moment` (ticks) or later."""
        self._writes = {
            key: (write, at)
            for key, (write, at) in self._writes.items()
            if at >= moment and self._may_be_applied(write)
        }
        return len(self._writes)

    def _may_be_applied(self, write: Write) -> bool:
        """Whether the newest known version of the Run is still the one that the write requires."""
        entry = self._engine.find(write.namespace, write.name)
        if entry is None or entry.run.uid != write.uid:
            return False
        return entry.floor == write.guard
