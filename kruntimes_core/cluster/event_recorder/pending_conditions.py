"""Which Runs have not been placed for how long. Only those whose time has come are looked at.

A Run that is tried again with the same answer is not told of again, so what lasts shows by time alone.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import Enum

from kruntimes_core.cluster.event_recorder.event import EventReason
from kruntimes_core.engine.cache import RunKey

_MOST = 20_000
"""More than can be told of within the hour for which an Event is kept, at the rate of the defaults."""
_VOID_SHARE = 2


class ConditionKind(Enum):
    """What keeps a Run from its Pod; the Reason under which one is counted that cannot be watched."""

    WAITING = EventReason.FAILED_SCHEDULING
    BROKEN = EventReason.PLUGIN_ERROR
    UNWRITTEN = EventReason.FAILED_UPDATE_STATUS


@dataclass(slots=True, eq=False)
class PendingCondition:
    """The time in which one Run is not placed, whatever for."""

    key: RunKey
    name: str
    kind: ConditionKind
    since: int
    """Since when it is of this kind, in ticks."""
    last: int
    """When it was seen to be so last."""
    refusal: str = ""
    """UNWRITTEN only: what came of the last write."""


class NoEvent(Enum):
    """Why there is nothing to say of a Run."""

    OVER = "over"
    """It is not held back any more."""
    EARLY = "early"
    """It is, and may be placed by the next try for all that is known."""


class PendingConditions:
    """A heap of the moments at which a Run is to be looked at: one for each Run that is held back."""

    def __init__(self, after: int, most: int = _MOST) -> None:
        """after: ticks from the beginning of a spell to the first look. most: spells at a time."""
        self._after = after
        self._most = most
        self._spells: dict[RunKey, PendingCondition] = {}
        self._heap: list[tuple[int, int, PendingCondition]] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._spells)

    def begins(self, key: RunKey, name: str, kind: ConditionKind, now: int) -> PendingCondition | None:
        """The Run is held back so; None if too many are."""
        spell = self._spells.get(key)
        if spell is None:
            if len(self._spells) >= self._most:
                return None
            spell = self._spells[key] = PendingCondition(key, name, kind, now, now)
            self._push(spell, now + self._after)
        elif spell.kind is not kind:
            spell.kind, spell.since = kind, now
        spell.last = now
        return spell

    def ends(self, key: RunKey) -> None:
        """The Run is not held back any more, or is gone."""
        if self._spells.pop(key, None) is not None:
            self._drop_void()

    def of(self, key: RunKey) -> PendingCondition | None:
        """The spell of a Run."""
        return self._spells.get(key)

    def lasts(self, spell: PendingCondition) -> bool:
        """Whether it has not ended."""
        return self._spells.get(spell.key) is spell

    @property
    def next_at(self) -> int | None:
        """When one is to be looked at, in ticks; it may have ended."""
        return self._heap[0][0] if self._heap else None

    def pop(self, now: int) -> PendingCondition | None:
        """One that is to be looked at by now. It comes again only by `again`."""
        while self._heap and self._heap[0][0] <= now:
            _, _, spell = heapq.heappop(self._heap)
            if self.lasts(spell):
                return spell
        return None

    def again(self, spell: PendingCondition, at: int) -> None:
        """Look at it at that time, if it still lasts now."""
        if self.lasts(spell):
            self._push(spell, at)

    def later(self, spell: PendingCondition, now: int) -> None:
        """Look at it again after as long as before the first look."""
        self.again(spell, now + self._after)

    def _push(self, spell: PendingCondition, at: int) -> None:
        self._number += 1
        heapq.heappush(self._heap, (at, self._number, spell))

    def _drop_void(self) -> None:
        """Runs that were placed must not stay in memory until they would have been looked at."""
        if len(self._heap) > _VOID_SHARE * len(self._spells) + 1_024:
            self._heap = [entry for entry in self._heap if self.lasts(entry[2])]
            heapq.heapify(self._heap)
