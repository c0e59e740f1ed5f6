"""Sends one Event: a new one, or one more observation of an Event that says the same, as client-go does."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.api_dispatcher.dispatcher import FIELD_MANAGER
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
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.event_recorder.event import EventContent, EventOutcome, series
from kruntimes_core.engine.clock import SECOND

_PATCH = "application/merge-patch+json"
# Only the status of the answer is read, so it may be short.
_ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_METHODS = {"create": "POST", "patch": "PATCH"}
_AGAIN = (408, 429)
_OF_CREDENTIALS = (401, 403)

_KEPT = 3_600 * SECOND
"""For as long as an API server keeps an Event that is not touched, unless told otherwise."""
_MOST = 20_000


@dataclass(slots=True)
class CorrelatedEvent:
    """An Event that this scheduler recorded. Changed by `EventCorrelator` alone."""

    name: str
    count: int = 0
    """How often it was observed; 0 until it was created for certain."""
    at: int = 0
    """When it was written last, in ticks."""


class EventCorrelator:
    """The latest Events by what they say; those that were written longest ago are forgotten first."""

    def __init__(self, most: int = _MOST) -> None:
        self._events: OrderedDict[EventContent, CorrelatedEvent] = OrderedDict()
        self._most = most
        self._number = 0

    def __len__(self) -> int:
        return len(self._events)

    def of(self, content: EventContent, now: int, wall_number: int) -> CorrelatedEvent:
        """The Event that says so, with a name for it if there is none yet.

        now: in ticks. wall_number: grows with time, also over hosts and restarts.
        """
        event = self._events.get(content)
        if event is None or now - event.at >= _KEPT:
            self._number = max(self._number + 1, wall_number)
            event = CorrelatedEvent(content.name(self._number), at=now)
            self._events[content] = event
        if len(self._events) > self._most:
            self._events.popitem(last=False)
        return event

    def written(self, content: EventContent, event: CorrelatedEvent, now: int) -> None:
        """An Event was created, or counted on."""
        event.count += 1
        event.at = now
        self._events[content] = event
        self._events.move_to_end(content)

    def forget(self, content: EventContent) -> None:
        """An Event does not exist any more, or never did."""
        self._events.pop(content, None)


@dataclass(frozen=True, slots=True)
class SendResult:
    """What came of a request."""

    outcome: EventOutcome
    failure: ApiFailure | None = None


class EventSender:
    """Creates an Event, or counts on the one that says the same. The recorder decides when, and whether."""

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
    outcome = EventOutcome.FAILED if _later(status) else EventOutcome.REFUSED
    if status.code in _OF_CREDENTIALS:
        return SendResult(outcome, refused(status, verb, _title(namespace)))
    said = f" ({status.message})" if status.message else ""
    problem = f"cannot {verb} {_title(namespace)}: the API server answered {status.code}{said}"
    return SendResult(outcome, ApiFailure(FailureKind.UNAVAILABLE, problem, status.retry_after))
