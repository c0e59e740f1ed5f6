"""For how long Runs have been held back, and by what. Only those whose time has come are looked at.

A Run that is tried again with the same answer makes no new decision, so what lasts shows by time alone.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import Enum

from kruntimes_core.cluster.event_recorder.event import EventReason
from kruntimes_core.engine.cache import RunKey

_MOST = 20_000
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
    """One Run is held back, whatever by. Changed by `PendingConditions` alone."""

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

    def __init__(self, after: int, most: int = _MOST) -> None:
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
