"""One request for one Event, and what came of it. Nothing here decides when, or whether."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.announcing.announcement import Announcement, series
from kruntimes_core.cluster.announcing.known import Known, KnownEvents
from kruntimes_core.cluster.announcing.reasons import EventOutcome
from kruntimes_core.cluster.api_dispatcher.dispatcher import FIELD_MANAGER
from kruntimes_core.cluster.client.errors import ApiFailure, Status, refused, status_of, unavailable
from kruntimes_core.cluster.client.resources import EVENTS
from kruntimes_core.cluster.client.transport import Call, Gate, Transport, TransportError
from kruntimes_core.cluster.clock import Clock

_PATCH = "application/merge-patch+json"
# Only the status of the answer is read, so it may be short.
_ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_METHODS = {"create": "POST", "patch": "PATCH"}
_AGAIN = (408, 429)
_OF_CREDENTIALS = (401, 403)


@dataclass(frozen=True, slots=True)
class Sent:
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
        self._known = KnownEvents()

    async def send(self, announcement: Announcement) -> Sent:
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

    async def _create(self, announcement: Announcement, known: Known) -> Sent:
        event = announcement.event(known.name, self._instance, self._clock.now().wall)
        namespace = announcement.regarding.namespace
        status = await self._request("create", namespace, None, "application/json", event)
        if isinstance(status, ApiFailure):
            return Sent(EventOutcome.FAILED, status)
        # The name is our own: if it is taken, a request without an answer had arrived.
        if status.code in (200, 201, 409):
            self._known.written(announcement, known, self._clock.now().ticks)
            return Sent(EventOutcome.CREATED)
        if not _later(status):
            self._known.forget(announcement)
        return _not_sent(status, "create", namespace)

    async def _count_on(self, announcement: Announcement, known: Known) -> Sent | None:
        """Patch its series; None if it is gone."""
        body = series(known.count + 1, self._clock.now().wall)
        namespace = announcement.regarding.namespace
        status = await self._request("patch", namespace, known.name, _PATCH, body)
        if isinstance(status, ApiFailure):
            return Sent(EventOutcome.FAILED, status)
        if status.code == 404:
            return None
        if status.code != 200:
            return _not_sent(status, "patch", namespace)
        self._known.written(announcement, known, self._clock.now().ticks)
        return Sent(EventOutcome.UPDATED)

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


def _not_sent(status: Status, verb: str, namespace: str) -> Sent:
    outcome = EventOutcome.FAILED if _later(status) else EventOutcome.REFUSED
    if status.code in _OF_CREDENTIALS:
        return Sent(outcome, refused(status, verb, _title(namespace)))
    said = f" ({status.message})" if status.message else ""
    failure = unavailable(verb, _title(namespace), f"the API server answered {status.code}{said}")
    failure.retry_after = status.retry_after
    return Sent(outcome, failure)
