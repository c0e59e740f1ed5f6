"""One request for one Event, and what came of it. Nothing here decides when, or whether."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.event_recorder.event import EventContent, EventOutcome, series
from kruntimes_core.cluster.failures import ApiFailure, refused, unavailable
from kruntimes_core.cluster.rights.needed import EVENTS
from kruntimes_core.cluster.statuses import Status, status_of
from kruntimes_core.cluster.transport.protocol import Call, Gate, Transport, TransportError
from kruntimes_core.cluster.writing.writer import FIELD_MANAGER
from kruntimes_core.engine.clock import SECOND

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


class EventSender:
    """Creates an Event, or counts on the one that says the same."""

    def __init__(
        self, *, transport: Transport, clock: Clock, instance: str, gate: Gate, seconds: float
    ) -> None:
        """instance: who reports. gate: asked when bytes are handed over. seconds: limit of a request."""
        self._transport = transport
        self._clock = clock
        self._instance = instance
        self._gate = gate
        self._seconds = seconds
        self._known = EventCorrelator()

    async def send(self, announcement: EventContent) -> SendResult:
        """Send it once."""
        now = self._clock.now()
        known = self._known.of(announcement, now.ticks, round(now.wall.timestamp() * 10**9))
        if not known.count:
            return await self._create(announcement, known)
        sent = await self._count_on(announcement, known)
        if sent is None:
            # The API server keeps an Event for an hour or so, or somebody deleted it.
            self._known.forget(announcement)
            return await self.send(announcement)
        return sent

    async def _create(self, announcement: EventContent, known: CorrelatedEvent) -> SendResult:
        event = announcement.event(known.name, self._instance, self._clock.now().wall)
        namespace = announcement.regarding.namespace
        status = await self._request("create", namespace, None, "application/json", event)
        if isinstance(status, ApiFailure):
            return SendResult(EventOutcome.FAILED, status)
        # The name is our own: if it is taken, a request without an answer had arrived.
        if status.code in (200, 201, 409):
            self._known.written(announcement, known, self._clock.now().ticks)
            return SendResult(EventOutcome.CREATED)
        if not _later(status):
            self._known.forget(announcement)
        return _not_sent(status, "create", namespace)

    async def _count_on(self, announcement: EventContent, known: CorrelatedEvent) -> SendResult | None:
        """Patch its series; None if it is gone."""
        body = series(known.count + 1, self._clock.now().wall)
        namespace = announcement.regarding.namespace
        status = await self._request("patch", namespace, known.name, _PATCH, body)
        if isinstance(status, ApiFailure):
            return SendResult(EventOutcome.FAILED, status)
        if status.code == 404:
            return None
        if status.code != 200:
            return _not_sent(status, "patch", namespace)
        self._known.written(announcement, known, self._clock.now().ticks)
        return SendResult(EventOutcome.UPDATED)

    async def _request(
        self, verb: str, namespace: str, name: str | None, content_type: str, body: Mapping[str, Any]
    ) -> Status | ApiFailure:
        call = Call(
            method=_METHODS[verb],
            path=EVENTS.path(namespace, name),
            query=(("fieldManager", FIELD_MANAGER), ("timeout", f"{self._seconds:g}s")),
            headers={"content-type": content_type, "accept": _ACCEPT},
            body=json.dumps(body, separators=(",", ":")).encode(),
            timeout_seconds=self._seconds,
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
    failure = unavailable(verb, _title(namespace), f"the API server answered {status.code}{said}")
    failure.retry_after = status.retry_after
    return SendResult(outcome, failure)


_KEPT = 3_600 * SECOND
"""For as long as an API server keeps an Event that nobody touches, unless told otherwise."""
_MOST = 20_000


@dataclass(slots=True)
class CorrelatedEvent:
    """An Event of ours."""

    name: str
    count: int = 0
    """How often it was observed; 0 until it was created for certain."""
    at: int = 0
    """When it was written last, in ticks."""


class EventCorrelator:
    """The latest of them by what they say; those that were written longest ago are forgotten first."""

    def __init__(self, most: int = _MOST) -> None:
        self._events: OrderedDict[EventContent, CorrelatedEvent] = OrderedDict()
        self._most = most
        self._number = 0

    def __len__(self) -> int:
        return len(self._events)

    def of(self, announcement: EventContent, now: int, wall_number: int) -> CorrelatedEvent:
        """The Event that says so, with a name for it if there is none yet.

        now: in ticks. wall_number: grows with time, also over hosts and restarts.
        """
        known = self._events.get(announcement)
        if known is None or now - known.at >= _KEPT:
            self._number = max(self._number + 1, wall_number)
            known = CorrelatedEvent(announcement.name(self._number), at=now)
            self._events[announcement] = known
        if len(self._events) > self._most:
            self._events.popitem(last=False)
        return known

    def written(self, announcement: EventContent, known: CorrelatedEvent, now: int) -> None:
        """It was created, or counted on."""
        known.count += 1
        known.at = now
        self._events[announcement] = known
        self._events.move_to_end(announcement)

    def forget(self, announcement: EventContent) -> None:
        """It does not stand any more, or never did."""
        self._events.pop(announcement, None)
