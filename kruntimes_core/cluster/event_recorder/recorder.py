"""Records Events beside the scheduler's work: neither waits for the other. Sends, retries and pauses."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from kruntimes_core.cluster.api_dispatcher import FIELD_MANAGER
from kruntimes_core.cluster.client.errors import (
    ApiFailure,
    FailureKind,
    Status,
    refused,
    status_of,
    unavailable,
)
from kruntimes_core.cluster.client.resources import EVENTS
from kruntimes_core.cluster.client.transport import Call, Gate, Transport, TransportError
from kruntimes_core.cluster.clock import Clock, RetryBackoff, TimeSlices
from kruntimes_core.cluster.event_recorder.event import EventContent, EventOutcome, EventReason, Lane, series
from kruntimes_core.cluster.event_recorder.event_correlator import (
    CorrelatedEvent,
    EndingNamespaces,
    EventCorrelator,
    TokenBucket,
)
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    NoEvent,
    PendingCondition,
    PendingConditions,
    SharedCause,
)
from kruntimes_core.cluster.event_recorder.sources import ConditionEvents, EventSources, HeldBack
from kruntimes_core.cluster.observability.endpoints import HealthCheck
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics, Samples, counted
from kruntimes_core.engine.clock import SECOND, Now, ticks
from kruntimes_core.engine.engine import Engine
from kruntimes_core.framework.configuration import Configuration

_MOST_QUEUED = 1_000
_TRIES = 5


@dataclass(slots=True)
class QueuedEvent:
    """An Event to send. `shared`: what it is about, if that may be over by then."""

    content: EventContent
    lane: Lane
    shared: SharedCause | None = None
    tries: int = 0


class EventQueue:
    """Events in three lanes: two are bounded queues, the third has the causes of the pending conditions.

    What somebody must see to goes first: the lane AT_ONCE and the urgent causes in turn. Then come the
    other causes and the placements, in turn.
    """

    def __init__(
        self,
        conditions: PendingConditions,
        evaluate: Callable[[PendingCondition, Now], HeldBack | EventContent | NoEvent],
    ) -> None:
        """evaluate: says what holds a Run back, if something still does."""
        self._conditions = conditions
        self._evaluate = evaluate
        self._queues: dict[Lane, deque[QueuedEvent]] = {Lane.AT_ONCE: deque(), Lane.PLACEMENTS: deque()}
        self._urgent = deque([partial(self._first, Lane.AT_ONCE), partial(self._of_cause, urgent=True)])
        self._others = deque([partial(self._of_cause, urgent=False), partial(self._first, Lane.PLACEMENTS)])

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each lane."""
        queued = {lane: len(queue) for lane, queue in self._queues.items()}
        return {Lane.LASTING: len(self._conditions), **queued}

    def add(self, lane: Lane, content: EventContent) -> bool:
        """Queue an Event; False if too many wait there already."""
        queue = self._queues[lane]
        if len(queue) >= _MOST_QUEUED:
            return False
        queue.append(QueuedEvent(content, lane))
        return True

    def retry(self, event: QueuedEvent) -> bool:
        """Put an Event back to the front of its lane; False if it was tried often enough."""
        event.tries += 1
        if event.tries >= _TRIES:
            return False
        self._queues[event.lane].appendleft(event)
        return True

    def clear(self) -> list[QueuedEvent]:
        """Take out what was queued. Conditions stay: each is evaluated before an Event is made of it."""
        left = [event for queue in self._queues.values() for event in queue]
        for queue in self._queues.values():
            queue.clear()
        return left

    def next_at(self, now: int) -> int | None:
        """When there may be an Event to send, in ticks."""
        return now if any(self._queues.values()) else self._conditions.next_at(now)

    def look(self, now: Now) -> bool:
        """Look at the next condition of a round; False if none is due, or at the end of one.

        All are looked at before an Event is sent: only then is it known how many Runs share each cause.
        """
        condition = self._conditions.pop(now.ticks)
        if condition is None:
            return False
        match self._evaluate(condition, now):
            case HeldBack(cause, arrival):
                self._conditions.holds(condition, cause, arrival)
            case NoEvent.EARLY:
                self._conditions.early(condition)
            case found:
                self._conditions.end(condition.key)
                if isinstance(found, EventContent):
                    self._queues[Lane.AT_ONCE].append(QueuedEvent(found, Lane.AT_ONCE))
        return True

    def pop(self) -> QueuedEvent | None:
        """The next Event to send; None if there is none."""
        for turns in (self._urgent, self._others):
            for _ in range(len(turns)):
                turns.rotate(-1)
                event = turns[-1]()
                if event is not None:
                    return event
        return None

    def _first(self, lane: Lane) -> QueuedEvent | None:
        queue = self._queues[lane]
        return queue.popleft() if queue else None

    def _of_cause(self, *, urgent: bool) -> QueuedEvent | None:
        shared = self._conditions.take(urgent=urgent)
        return QueuedEvent(shared.content(), Lane.LASTING, shared) if shared is not None else None


_PATCH = "application/merge-patch+json"
# Only the status of the answer is read, so it may be short.
_ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_METHODS = {"create": "POST", "patch": "PATCH"}
_AGAIN = (408, 429)
_OF_CREDENTIALS = (401, 403)


@dataclass(frozen=True, slots=True)
class SendResult:
    """What came of a request."""

    outcome: EventOutcome
    failure: ApiFailure | None = None
    namespace_ends: bool = False
    """The namespace is being deleted, or does not exist any more: it takes no Event."""


class EventSender:
    """Creates an Event, or counts on the Event with the same content."""

    def __init__(
        self, *, transport: Transport, clock: Clock, instance: str, gate: Gate, timeout_seconds: float
    ) -> None:
        """instance: what reports. gate: called when bytes are handed over."""
        self._transport = transport
        self._clock = clock
        self._instance = instance
        self._gate = gate
        self._timeout_seconds = timeout_seconds
        self._correlator = EventCorrelator()

    async def send(self, content: EventContent) -> SendResult:
        """Send it once."""
        now = self._clock.now()
        event = self._correlator.of(content, now.ticks, round(now.wall.timestamp() * 10**9))
        if not event.count:
            return await self._create(content, event)
        result = await self._count_on(content, event)
        if result is None:
            # The API server keeps an Event for an hour or so, or it was deleted.
            self._correlator.forget(content)
            return await self.send(content)
        return result

    async def _create(self, content: EventContent, event: CorrelatedEvent) -> SendResult:
        body = content.event(event.name, self._instance, self._clock.now().wall)
        namespace = content.regarding.namespace
        status = await self._request("create", namespace, None, "application/json", body)
        if isinstance(status, ApiFailure):
            return SendResult(EventOutcome.FAILED, status)
        # No other scheduler takes this name: if it is taken, a request without an answer had arrived.
        if status.code in (200, 201, 409):
            self._correlator.written(content, event, self._clock.now().ticks)
            return SendResult(EventOutcome.CREATED)
        if not _later(status):
            self._correlator.forget(content)
        return _not_sent(status, "create", namespace)

    async def _count_on(self, content: EventContent, event: CorrelatedEvent) -> SendResult | None:
        """Patch its series; None if it is gone."""
        body = series(event.count + 1, self._clock.now().wall)
        namespace = content.regarding.namespace
        status = await self._request("patch", namespace, event.name, _PATCH, body)
        if isinstance(status, ApiFailure):
            return SendResult(EventOutcome.FAILED, status)
        if status.code == 404:
            return None
        if status.code != 200:
            return _not_sent(status, "patch", namespace)
        self._correlator.written(content, event, self._clock.now().ticks)
        return SendResult(EventOutcome.UPDATED)

    async def _request(
        self, verb: str, namespace: str, name: str | None, content_type: str, body: Mapping[str, Any]
    ) -> Status | ApiFailure:
        call = Call(
            method=_METHODS[verb],
            path=EVENTS.path(namespace, name),
            query=(("fieldManager", FIELD_MANAGER), ("timeout", f"{self._timeout_seconds:g}s")),
            headers={"content-type": content_type, "accept": _ACCEPT},
            body=json.dumps(body, separators=(",", ":")).encode(),
            timeout_seconds=self._timeout_seconds,
            gate=self._gate,
        )
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            return unavailable(verb, _title(namespace), error)
        return status_of(response, self._clock.now().wall)


def _later(status: Status) -> bool:
    return status.code in _AGAIN or not 400 <= status.code < 500


def _title(namespace: str) -> str:
    return f"{EVENTS.title} in {namespace}"


def _not_sent(status: Status, verb: str, namespace: str) -> SendResult:
    if status.namespace_gone:
        return SendResult(EventOutcome.REFUSED, namespace_ends=True)
    outcome = EventOutcome.FAILED if _later(status) else EventOutcome.REFUSED
    if status.code in _OF_CREDENTIALS:
        return SendResult(outcome, refused(status, verb, _title(namespace)))
    said = f" ({status.message})" if status.message else ""
    why = f"the API server answered {status.code}{said}"
    failure = ApiFailure(FailureKind.UNAVAILABLE, verb, _title(namespace), why, status.retry_after)
    return SendResult(outcome, failure)


_LONGEST_REST = SECOND
"""Timers of the loop stand still while the machine is suspended, and a pending condition wakes no loop."""
_QUIET = 60 * SECOND
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    """Durations in ticks of the monotonic clock."""

    after: int = 60 * SECOND
    """For how long something must last."""
    repeat: int = 1_800 * SECOND
    """After how long it is recorded again, if it still lasts."""
    per_second: float = 5.0
    """Events at most; 0 for none at all."""
    placements: bool = False
    """Whether each bind makes an Event."""

    @classmethod
    def of(cls, configuration: Configuration) -> EventSettings:
        """The settings of a configuration."""
        events = configuration.events
        return cls(
            after=ticks(events.after_seconds),
            repeat=ticks(events.repeat_seconds),
            per_second=events.per_second,
            placements=events.placements,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSink:
    """Where the Events of a scheduler go."""

    transport: Transport
    """For Events alone, so that no bind waits behind one."""
    instance: str
    """What reports them: the identity of an election, where there is one."""
    settings: EventSettings = EventSettings()


def events_to(transport: Transport, instance: str, settings: EventSettings) -> EventSink | None:
    """Where Events go; None where an operator wants none."""
    if not settings.per_second:
        return None
    return EventSink(transport=transport, instance=instance, settings=settings)


class EventRecorder:
    """Sends the Events of its `sources`, one at a time, at a bounded pace."""

    def __init__(
        self,
        *,
        sink: EventSink,
        engine: Engine,
        clock: Clock,
        random: Random,
        log: Log,
        may_record: Callable[[], bool],
        timeout_seconds: float,
    ) -> None:
        """may_record: whether this scheduler decides at this moment. timeout_seconds: for each request."""
        settings = sink.settings
        self._clock = clock
        self._log = log
        self._may_record = may_record
        self._conditions = PendingConditions(settings.after, settings.repeat)
        self._queue = EventQueue(self._conditions, ConditionEvents(engine, settings.after).of)
        self._ending = EndingNamespaces()
        self._bucket = TokenBucket(settings.per_second)
        self._pauses = RetryBackoff(random, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._woken = asyncio.Event()
        self._paused_until = 0
        self._quiet_until = 0
        self._problem: ApiFailure | None = None
        self._slices = TimeSlices(clock)
        self._sender = EventSender(
            transport=sink.transport,
            clock=clock,
            instance=sink.instance,
            gate=may_record,
            timeout_seconds=timeout_seconds,
        )
        self.counts: Counter[tuple[str, str]] = Counter()
        """(reason, outcome)."""
        self.sources = EventSources(
            conditions=self._conditions,
            clock=clock,
            may_record=may_record,
            add=self._add,
            dropped=self._dropped,
            placements=settings.placements,
        )

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each lane."""
        return self._queue.lengths

    def checks(self) -> list[HealthCheck]:
        """For a probe: a scheduler whose Events are refused is as ready as any."""
        problem = self._problem
        if problem is None:
            return [HealthCheck("events")]
        return [HealthCheck("events", note=str(problem), without_names=problem.without_names)]

    async def run(self) -> None:
        """Send Events until cancelled."""
        while True:
            if (rest := self._rest()) > 0:
                await self._wait(min(rest, _LONGEST_REST) / SECOND)
                continue
            event = self._next()
            if event is None:
                await asyncio.sleep(0)
            else:
                await self._send(event)

    # Inside

    async def _wait(self, seconds: float) -> None:
        """Rest for so long, or until an Event was queued."""
        timer = asyncio.get_running_loop().call_later(seconds, self._woken.set)
        await self._woken.wait()
        timer.cancel()
        self._woken.clear()

    def _rest(self) -> int:
        """For how long there is nothing to do, in ticks. Drops what is queued when it may not be sent."""
        if not self._may_record():
            for event in self._queue.clear():
                self._dropped(event.content.reason)
            return _LONGEST_REST
        now = self._clock.now().ticks
        due_at = self._queue.next_at(now)
        if due_at is None:
            return _LONGEST_REST
        return max(due_at, self._paused_until, self._bucket.free_at(now)) - now

    def _next(self) -> QueuedEvent | None:
        """The next Event to send; None if there is none, or a slice of time was not enough to find it."""
        self._slices.restart()
        while not self._slices.over:
            now = self._clock.now()
            if self._queue.look(now):
                continue
            event = self._queue.pop()
            if event is None or not self._ending.has(event.content.regarding.namespace, now.ticks):
                return event
            self._dropped(event.content.reason)
            self._requeue(event, EventOutcome.DROPPED)
        return None

    async def _send(self, event: QueuedEvent) -> None:
        self._bucket.take(self._clock.now().ticks)
        result = await self._sender.send(event.content)
        reason, outcome = event.content.reason, result.outcome
        if outcome is EventOutcome.FAILED and not self._may_record():
            outcome = EventOutcome.DROPPED
        self.counts[reason.value, outcome.value] += 1
        if result.namespace_ends:
            self._ending.add(event.content.regarding.namespace, self._clock.now().ticks)
        self._pause_after(result)
        self._requeue(event, outcome)

    def _pause_after(self, result: SendResult) -> None:
        """Pause after a failure, longer each time."""
        failure, before = result.failure, self._problem
        self._problem = failure
        if failure is None:
            self._pauses.reset()
            if before is not None:
                self._log.debug("events can be written again")
            return
        now = self._clock.now().ticks
        self._paused_until = now + ticks(self._pauses.next(failure.retry_after))
        # Once a minute at most, because some may be refused while others are not.
        if (before is None or before.kind is not failure.kind) and now >= self._quiet_until:
            self._quiet_until = now + _QUIET
            self._log.warning(str(failure))

    def _requeue(self, event: QueuedEvent, outcome: EventOutcome) -> None:
        """Record a cause again later, and send again what failed."""
        if event.shared is not None:
            written = outcome in (EventOutcome.CREATED, EventOutcome.UPDATED)
            self._conditions.recorded(event.shared, self._clock.now().ticks, written=written)
        elif outcome is EventOutcome.FAILED and not self._queue.retry(event):
            self._dropped(event.content.reason)

    def _add(self, lane: Lane, content: EventContent) -> None:
        if not self._queue.add(lane, content):
            self._dropped(content.reason)
        self._woken.set()

    def _dropped(self, reason: EventReason) -> None:
        self.counts[reason.value, EventOutcome.DROPPED.value] += 1


def register_event_metrics(metrics: Metrics, recorder: EventRecorder) -> None:
    """Add the metrics of Events; every series stands from the beginning."""
    events: Samples = {
        (reason.value, outcome.value): 0.0 for reason in EventReason for outcome in EventOutcome
    }
    metrics.counter(
        "events",
        "Events by what they are about and what became of them.",
        ("reason", "outcome"),
        lambda: {**events, **counted(recorder.counts)},
    )
    metrics.gauge(
        "event_queue_length",
        "Events that wait, and Runs that may need one later, by lane.",
        ("lane",),
        lambda: {(lane.value,): length for lane, length in recorder.lengths.items()},
    )
