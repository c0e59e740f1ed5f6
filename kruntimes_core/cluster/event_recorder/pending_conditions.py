"""What holds Runs back for long; those of one Runtime that one cause holds back share an Event."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventReason,
    reference_to_run,
    shared_note,
)
from kruntimes_core.engine.cache import RunKey

_MOST_CONDITIONS = 20_000
# In the time for which a condition must last. A round over 20,000 conditions takes about 0.1 s.
_ROUNDS_AT_LEAST, _ROUNDS_AT_MOST = 4, 20


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


@dataclass(frozen=True, slots=True)
class PendingCause:
    """Why Runs of one Runtime are held back, in the words of their Event."""

    namespace: str
    runtime: str
    reason: EventReason
    note: str


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
    arrival: int = 0
    """The place of the Run in the order of arrival; known once its cause is."""
    shares: SharedCause | None = None
    """Its cause when it was looked at last."""


@dataclass(slots=True, eq=False)
class SharedCause:
    """The Runs that one cause holds back, and their Event. Changed by `PendingConditions` alone."""

    cause: PendingCause
    conditions: dict[RunKey, PendingCondition] = field(default_factory=dict)
    """One at least, while anything is to be said."""
    next_at: int = 0
    """Until then it is not recorded again, in ticks."""

    def due_at(self, after: int) -> int:
        """When it is to be recorded, in ticks. after: for how long one of the Runs must be held back."""
        return max(self.next_at, min(condition.since for condition in self.conditions.values()) + after)

    def content(self) -> EventContent:
        """An Event regarding the oldest of the Runs."""
        oldest = min(self.conditions.values(), key=lambda condition: condition.arrival)
        namespace, uid = oldest.key
        note = shared_note(self.cause.note, len(self.conditions) - 1)
        return EventContent(self.cause.reason, reference_to_run(namespace, oldest.name, uid), note)


class PendingConditions:
    """At most one condition for each Run. Now and then a round looks at all of them, one after the other.

    The causes that a round has found, and how many Runs share each, are those of one moment, nearly. At its
    end, the causes that are due to be recorded are queued.
    """

    def __init__(self, after: int, repeat: int, most: int = _MOST_CONDITIONS) -> None:
        """after: for how long a Run must be held back before its cause is recorded, in ticks.

        repeat: ticks after which a cause is recorded again. most: conditions at a time.
        """
        self._after = after
        self._repeat = repeat
        self._most = most
        self._conditions: dict[RunKey, PendingCondition] = {}
        self._causes: dict[PendingCause, SharedCause] = {}
        self._round: deque[PendingCondition] | None = None
        """Those that are still to be looked at in this round; None between two rounds."""
        self._round_at = 0
        """When the next round is due, in ticks."""
        self._urgent: deque[SharedCause] = deque()
        self._others: deque[SharedCause] = deque()

    def __len__(self) -> int:
        return len(self._conditions)

    # What is observed

    def observe(self, key: RunKey, name: str, kind: ConditionKind, now: int, refusal: str = "") -> bool:
        """Note that a Run is held back; False if too many are."""
        found = self._conditions.get(key)
        if found is None:
            if len(self._conditions) >= self._most:
                return False
            found = self._conditions[key] = PendingCondition(key, name, kind, now, now)
        elif found.kind is not kind:
            found.kind, found.since = kind, now
        found.last = now
        found.refusal = refusal
        return True

    def end(self, key: RunKey) -> None:
        """Note that a Run is not held back any more, or is gone."""
        condition = self._conditions.pop(key, None)
        if condition is not None:
            self.early(condition)

    def of(self, key: RunKey) -> PendingCondition | None:
        """The condition of a Run."""
        return self._conditions.get(key)

    # Looking

    def next_at(self, now: int) -> int | None:
        """When there is something to look at or to record, in ticks; it may be over by then."""
        if self._urgent or self._others or self._round:
            return now
        return self._round_at if self._conditions else None

    def pop(self, now: int) -> PendingCondition | None:
        """The next condition to look at; None if no round is due, or at the end of one."""
        if self._round is None:
            if not self._conditions or now < self._round_at:
                return None
            self._round = deque(self._conditions.values())
        while self._round:
            condition = self._round.popleft()
            if self._conditions.get(condition.key) is condition:
                return condition
        self._end_round(now)
        return None

    def early(self, condition: PendingCondition) -> None:
        """A condition that was looked at makes no Event yet."""
        shared, condition.shares = condition.shares, None
        if shared is not None:
            del shared.conditions[condition.key]
            if not shared.conditions:
                del self._causes[shared.cause]

    def holds(self, condition: PendingCondition, cause: PendingCause, arrival: int) -> None:
        """A condition that was looked at has this cause. arrival: the Run's place in the order of arrival."""
        condition.arrival = arrival
        if condition.shares is None or condition.shares.cause != cause:
            self.early(condition)
            shared = condition.shares = self._causes.setdefault(cause, SharedCause(cause))
            shared.conditions[condition.key] = condition

    # Recording

    def take(self, *, urgent: bool) -> SharedCause | None:
        """The next cause to record. urgent: of those that somebody must see to, or of the others."""
        queue = self._urgent if urgent else self._others
        while queue:
            shared = queue.popleft()
            if shared.conditions:
                return shared
        return None

    def recorded(self, shared: SharedCause, now: int, *, written: bool) -> None:
        """The Event of a cause was written, or was not: then it is due again sooner."""
        shared.next_at = now + (self._repeat if written else self._after)

    # Inside

    def _end_round(self, now: int) -> None:
        """Queue what is due, the longest due first; what was queued before and not recorded is due still."""
        self._round = None
        due_at = {shared: shared.due_at(self._after) for shared in self._causes.values()}
        due = sorted((shared for shared, at in due_at.items() if at <= now), key=due_at.__getitem__)
        self._urgent = deque(shared for shared in due if shared.cause.reason.urgent)
        self._others = deque(shared for shared in due if not shared.cause.reason.urgent)
        next_due = min((at for at in due_at.values() if at > now), default=now + self._after)
        longest, shortest = self._after // _ROUNDS_AT_LEAST, self._after // _ROUNDS_AT_MOST
        self._round_at = now + max(shortest, min(longest, next_due - now))
