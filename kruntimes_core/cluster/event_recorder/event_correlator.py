"""Which Events are one series, when a lasting condition makes an Event, and the pace of all Events."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

from kruntimes_core.cluster.event_recorder.event import EventContent, EventReason
from kruntimes_core.engine.cache import RunKey
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


_MOST_CONDITIONS = 20_000
"""More than the default rate can record within the hour for which an Event is kept."""
_VOID_SHARE = 2


class ConditionKind(Enum):
    """What holds a Run back; the value is the reason under which a condition is counted that was dropped."""

    WAITING = EventReason.FAILED_SCHEDULING
    BROKEN = EventReason.PLUGIN_ERROR
    UNWRITTEN = EventReason.FAILED_UPDATE_STATUS


class NoEvent(Enum):
    """Why a condition that is looked at makes no Event."""

    OVER = "over"
    """The Run is not held back any more."""
    EARLY = "early"
    """It is, but the next try may well place it."""


@dataclass(slots=True, eq=False)
class PendingCondition:
    """One Run is held back. Changed by `PendingConditions` alone."""

    key: RunKey
    name: str
    kind: ConditionKind
    since: int
    """Since when it is of this kind, in ticks."""
    last: int
    """When it was observed last."""
    refusal: str = ""
    """UNWRITTEN only: what came of the last write."""


class PendingConditions:
    """At most one condition for each Run, in a heap by the moment at which it is to be looked at."""

    def __init__(self, after: int, most: int = _MOST_CONDITIONS) -> None:
        """after: ticks from the beginning of a condition to the first look. most: conditions at a time."""
        self._after = after
        self._most = most
        self._conditions: dict[RunKey, PendingCondition] = {}
        self._heap: list[tuple[int, int, PendingCondition]] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._conditions)

    def observe(self, key: RunKey, name: str, kind: ConditionKind, now: int, refusal: str = "") -> bool:
        """Note that a Run is held back; False if too many are."""
        found = self._conditions.get(key)
        if found is None:
            if len(self._conditions) >= self._most:
                return False
            found = self._conditions[key] = PendingCondition(key, name, kind, now, now)
            self._push(found, now + self._after)
        elif found.kind is not kind:
            found.kind, found.since = kind, now
        found.last = now
        found.refusal = refusal
        return True

    def end(self, key: RunKey) -> None:
        """Note that a Run is not held back any more, or is gone."""
        if self._conditions.pop(key, None) is not None:
            self._drop_void()

    def of(self, key: RunKey) -> PendingCondition | None:
        """The condition of a Run."""
        return self._conditions.get(key)

    @property
    def next_at(self) -> int | None:
        """When a condition is to be looked at, in ticks; it may have ended."""
        return self._heap[0][0] if self._heap else None

    def pop(self, now: int) -> PendingCondition | None:
        """A condition that is to be looked at by now. It comes again only by `look_again`."""
        while self._heap and self._heap[0][0] <= now:
            _, _, condition = heapq.heappop(self._heap)
            if self._lasts(condition):
                return condition
        return None

    def look_again(self, condition: PendingCondition, now: int, after: int | None = None) -> None:
        """Look at a condition again, if it still lasts. after: ticks; None: as before the first look."""
        if self._lasts(condition):
            self._push(condition, now + (self._after if after is None else after))

    def _lasts(self, condition: PendingCondition) -> bool:
        return self._conditions.get(condition.key) is condition

    def _push(self, condition: PendingCondition, at: int) -> None:
        self._number += 1
        heapq.heappush(self._heap, (at, self._number, condition))

    def _drop_void(self) -> None:
        """Runs that were placed must not stay in memory until they would have been looked at."""
        if len(self._heap) > _VOID_SHARE * len(self._conditions) + 1_024:
            self._heap = [entry for entry in self._heap if self._lasts(entry[2])]
            heapq.heapify(self._heap)
