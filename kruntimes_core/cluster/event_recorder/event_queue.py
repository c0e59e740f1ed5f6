"""What waits to be said, in three lanes of which none keeps another waiting for long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.cluster.event_recorder.event import EventContent, EventReason
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    NoEvent,
    PendingCondition,
    PendingConditions,
)
from kruntimes_core.engine.clock import SECOND, Now

_MOST = 1_000
_TRIES = 5


class Lane(StrEnum):
    """`kruntimes_scheduler_event_queue_length{lane}`."""

    AT_ONCE = "at_once"
    LASTING = "lasting"
    PLACEMENTS = "placements"


@dataclass(slots=True)
class QueuedEvent:
    """Something to say. `spell`: what lasts, and may be over when it is sent."""

    announcement: EventContent
    lane: Lane
    spell: PendingCondition | None = None
    tries: int = 0


class EventQueue:
    """Takes from each lane in turn. Two are bounded queues; the third looks at what lasts."""

    def __init__(
        self, lasting: PendingConditions, look: Callable[[PendingCondition, Now], EventContent | NoEvent]
    ) -> None:
        """look: what is to be said of one that lasts, if it still does."""
        self._lasting = lasting
        self._look = look
        self._queues: dict[Lane, deque[QueuedEvent]] = {Lane.AT_ONCE: deque(), Lane.PLACEMENTS: deque()}
        self._order = deque(Lane)

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each."""
        return {Lane.LASTING: len(self._lasting), **{lane: len(one) for lane, one in self._queues.items()}}

    def put(self, lane: Lane, announcement: EventContent) -> bool:
        """Queue it; False if too much waits there already."""
        queue = self._queues[lane]
        if len(queue) >= _MOST:
            return False
        queue.append(QueuedEvent(announcement, lane))
        return True

    def retry(self, due: QueuedEvent) -> bool:
        """Put it back to where it was; False if it was tried often enough."""
        due.tries += 1
        if due.tries >= _TRIES:
            return False
        self._queues[due.lane].appendleft(due)
        return True

    def clear(self) -> list[QueuedEvent]:
        """Take out what was queued. What lasts stays: it is looked at before it is told of."""
        left = [due for queue in self._queues.values() for due in queue]
        for queue in self._queues.values():
            queue.clear()
        return left

    def next_at(self, now: int) -> int | None:
        """When there may be something to say, in ticks."""
        return now if any(self._queues.values()) else self._lasting.next_at

    def next(self, now: Now) -> QueuedEvent | None:
        """The next thing to say, or None: what was looked at does not last any more, or nothing is due."""
        for _ in range(len(self._order)):
            self._order.rotate(-1)
            lane = self._order[-1]
            due = self._look_at_next(now) if lane is Lane.LASTING else self._take(lane)
            if due is not None:
                return due
        return None

    def _take(self, lane: Lane) -> QueuedEvent | None:
        queue = self._queues[lane]
        return queue.popleft() if queue else None

    def _look_at_next(self, now: Now) -> QueuedEvent | None:
        spell = self._lasting.pop(now.ticks)
        if spell is None:
            return None
        found = self._look(spell, now)
        if found is NoEvent.EARLY:
            self._lasting.later(spell, now.ticks)
            return None
        if isinstance(found, EventContent) and found.reason is not EventReason.INVALID_RUN:
            return QueuedEvent(found, Lane.LASTING, spell)
        self._lasting.ends(spell.key)
        return QueuedEvent(found, Lane.AT_ONCE) if isinstance(found, EventContent) else None


_BURST_SECONDS = 5


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
