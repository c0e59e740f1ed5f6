"""Which Events are one series, where none can be written, and the pace of all Events."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from kruntimes_core.cluster.event_recorder.event import EventContent
from kruntimes_core.engine.clock import SECOND

_KEPT = 3_600 * SECOND
"""How long an API server keeps an Event after its last write, unless it is configured otherwise."""
_MOST_EVENTS = 20_000
_BURST_SECONDS = 5


@dataclass(slots=True)
class CorrelatedEvent:
    """An Event that this scheduler recorded. Changed by `EventCorrelator` alone."""

    name: str
    count: int = 0
    """How often it was observed; 0 until it was created for certain."""
    at: int = 0
    """When it was written last, in ticks."""


class EventCorrelator:
    """The latest Events by their content; those that were written longest ago are forgotten first."""

    def __init__(self, most: int = _MOST_EVENTS) -> None:
        self._events: OrderedDict[EventContent, CorrelatedEvent] = OrderedDict()
        self._most = most
        self._number = 0

    def __len__(self) -> int:
        return len(self._events)

    def of(self, content: EventContent, now: int, wall_number: int) -> CorrelatedEvent:
        """The Event with this content, with a new name if there is none yet.

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


class TokenBucket:
    """Holds five seconds' worth of tokens, but one at least, and is full at the beginning."""

    def __init__(self, per_second: float) -> None:
        """per_second: above 0."""
        self._interval = max(round(SECOND / per_second), 1)
        self._depth = max(_BURST_SECONDS * SECOND, self._interval)
        self._full_at = 0

    def free_at(self, now: int) -> int:
        """When there is a token, in ticks; not before `now`."""
        return max(self._full_at + self._interval - self._depth, now)

    def take(self, now: int) -> None:
        """Take a token; call it when there is one."""
        self._full_at = max(self._full_at, now) + self._interval


_ENDING_FOR = 60 * SECOND


class EndingNamespaces:
    """Namespaces that take no Event any more because they are being deleted, as the API server has said.

    Each is believed to be for a minute: deleting one takes time, and another one may get its name.
    """

    def __init__(self) -> None:
        self._until: dict[str, int] = {}

    def add(self, namespace: str, now: int) -> None:
        """The API server takes no Event there. now: in ticks."""
        self._until = {name: until for name, until in self._until.items() if until > now}
        self._until[namespace] = now + _ENDING_FOR

    def has(self, namespace: str, now: int) -> bool:
        """Whether an Event there would be refused. now: in ticks."""
        return self._until.get(namespace, now) > now
