"""Events that wait to be sent, in three lanes that take turns, and the token bucket that sets the pace."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.cluster.event_recorder.event import EventContent, EventReason
from kruntimes_core.cluster.event_recorder.event_correlator import (
    NoEvent,
    PendingCondition,
    PendingConditions,
)
from kruntimes_core.engine.clock import Now

_MOST = 1_000
_TRIES = 5


class Lane(StrEnum):
    """`kruntimes_scheduler_event_queue_length{lane}`."""

    AT_ONCE = "at_once"
    LASTING = "lasting"
    PLACEMENTS = "placements"


@dataclass(slots=True)
class QueuedEvent:
    """An Event to send. `condition`: what it is about, if that may be over by then."""

    content: EventContent
    lane: Lane
    condition: PendingCondition | None = None
    tries: int = 0


class EventQueue:
    """Takes from each lane in turn. Two are bounded queues; the third looks at the pending conditions."""

    def __init__(
        self,
        conditions: PendingConditions,
        evaluate: Callable[[PendingCondition, Now], EventContent | NoEvent],
    ) -> None:
        """evaluate: what is to be said of a condition, if it still lasts."""
        self._conditions = conditions
        self._evaluate = evaluate
        self._queues: dict[Lane, deque[QueuedEvent]] = {Lane.AT_ONCE: deque(), Lane.PLACEMENTS: deque()}
        self._order = deque(Lane)

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each lane."""
        queued = {lane: len(queue) for lane, queue in self._queues.items()}
        return {Lane.LASTING: len(self._conditions), **queued}

    def add(self, lane: Lane, content: EventContent) -> bool:
        """Queue an Event; False if too many wait there already."""
        queue = self._queues[lane]
        if len(queue) >= _MOST:
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
        return now if any(self._queues.values()) else self._conditions.next_at

    def pop(self, now: Now) -> QueuedEvent | None:
        """The next Event to send; None if nothing is due, or a condition that was does not last any more."""
        for _ in range(len(self._order)):
            self._order.rotate(-1)
            lane = self._order[-1]
            event = self._of_condition(now) if lane is Lane.LASTING else self._first(lane)
            if event is not None:
                return event
        return None

    def _first(self, lane: Lane) -> QueuedEvent | None:
        queue = self._queues[lane]
        return queue.popleft() if queue else None

    def _of_condition(self, now: Now) -> QueuedEvent | None:
        condition = self._conditions.pop(now.ticks)
        if condition is None:
            return None
        found = self._evaluate(condition, now)
        if found is NoEvent.EARLY:
            self._conditions.look_again(condition, now.ticks)
            return None
        if isinstance(found, EventContent) and found.reason is not EventReason.INVALID_RUN:
            return QueuedEvent(found, Lane.LASTING, condition)
        self._conditions.end(condition.key)
        return QueuedEvent(found, Lane.AT_ONCE) if isinstance(found, EventContent) else None
