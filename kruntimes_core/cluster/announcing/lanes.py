"""What waits to be said, in three lanes of which none keeps another waiting for long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.cluster.announcing.announcement import Announcement
from kruntimes_core.cluster.announcing.lasting import Lasting, Spell
from kruntimes_core.cluster.announcing.reasons import Reason
from kruntimes_core.cluster.announcing.telling import NotSaid
from kruntimes_core.engine.clock import Now

_MOST = 1_000
_TRIES = 5


class Lane(StrEnum):
    """`kruntimes_scheduler_event_queue_length{lane}`."""

    AT_ONCE = "at_once"
    LASTING = "lasting"
    PLACEMENTS = "placements"


@dataclass(slots=True)
class Due:
    """Something to say. `spell`: what lasts, and may be over when it is sent."""

    announcement: Announcement
    lane: Lane
    spell: Spell | None = None
    tries: int = 0


class Lanes:
    """Takes from each lane in turn. Two are bounded queues; the third looks at what lasts."""

    def __init__(self, lasting: Lasting, look: Callable[[Spell, Now], Announcement | NotSaid]) -> None:
        """look: what is to be said of one that lasts, if it still does."""
        self._lasting = lasting
        self._look = look
        self._queues: dict[Lane, deque[Due]] = {Lane.AT_ONCE: deque(), Lane.PLACEMENTS: deque()}
        self._order = deque(Lane)

    @property
    def lengths(self) -> dict[Lane, int]:
        """How much waits in each."""
        return {Lane.LASTING: len(self._lasting), **{lane: len(one) for lane, one in self._queues.items()}}

    def put(self, lane: Lane, announcement: Announcement) -> bool:
        """Queue it; False if too much waits there already."""
        queue = self._queues[lane]
        if len(queue) >= _MOST:
            return False
        queue.append(Due(announcement, lane))
        return True

    def retry(self, due: Due) -> bool:
        """Put it back to where it was; False if it was tried often enough."""
        due.tries += 1
        if due.tries >= _TRIES:
            return False
        self._queues[due.lane].appendleft(due)
        return True

    def clear(self) -> list[Due]:
        """Take out what was queued. What lasts stays: it is looked at before it is told of."""
        left = [due for queue in self._queues.values() for due in queue]
        for queue in self._queues.values():
            queue.clear()
        return left

    def next_at(self, now: int) -> int | None:
        """When there may be something to say, in ticks."""
        return now if any(self._queues.values()) else self._lasting.next_at

    def next(self, now: Now) -> Due | None:
        """The next thing to say, or None: what was looked at does not last any more, or nothing is due."""
        for _ in range(len(self._order)):
            self._order.rotate(-1)
            lane = self._order[-1]
            due = self._look_at_next(now) if lane is Lane.LASTING else self._take(lane)
            if due is not None:
                return due
        return None

    def _take(self, lane: Lane) -> Due | None:
        queue = self._queues[lane]
        return queue.popleft() if queue else None

    def _look_at_next(self, now: Now) -> Due | None:
        spell = self._lasting.pop(now.ticks)
        if spell is None:
            return None
        found = self._look(spell, now)
        if found is NotSaid.EARLY:
            self._lasting.later(spell, now.ticks)
            return None
        if isinstance(found, Announcement) and found.reason is not Reason.INVALID_RUN:
            return Due(found, Lane.LASTING, spell)
        self._lasting.ends(spell.key)
        return Due(found, Lane.AT_ONCE) if isinstance(found, Announcement) else None
