"""The active queue: Runs to schedule next, and classes of waiting Runs that may place one of theirs."""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field

from kruntimes_core.engine.current_profiles import ProfileDependencies
from kruntimes_core.engine.runs import Order, RunEntry, Stage

_CLEANED_EVERY = 1024

ClassKey = tuple[str, str, str, Hashable]
"""(namespace, Runtime, profile, key of the states)."""

_Member = tuple[Order, int, int, RunEntry]
"""Order, arrival, token, and the Run: no two that differ are alike before the Run, which has no order."""


@dataclass(slots=True, eq=False)
class EquivalenceClass:
    """Waiting Runs of one namespace, Runtime and profile with equal plugin states.

    One answer holds for all of them, so a freed slot costs one evaluation for each class and changed
    Pod, and one cycle for each Run that is placed, however many Runs wait (semantics, Classes).
    """

    key: ClassKey
    dependencies: ProfileDependencies
    token: int = 0
    """Void queue entries bear an older one."""
    awake: bool = False
    """Something changed that was not evaluated for it yet."""
    in_cycle: bool = False
    """Its first Run is being scheduled."""
    swept: bool = False
    """Tried by the sweep, and not because it was woken."""
    retry_alone: bool = False
    """Not to be part of a batch: one with it did not come back."""
    retry_at: int | None = None
    """When a rejection may turn by itself, in ticks."""
    size: int = 0
    _members: list[_Member] = field(default_factory=list)

    # Runs

    def add(self, entry: RunEntry) -> None:
        """Let a Run wait here; it must be in no other class."""
        entry.wait_in(self)
        self.size += 1
        self.retry_alone = False
        heapq.heappush(self._members, (entry.order, entry.arrival, entry.token, entry))

    def remove(self, entry: RunEntry) -> None:
        """Take a Run out."""
        entry.stop_waiting()
        self.size -= 1
        if len(self._members) > _CLEANED_EVERY + 2 * self.size:
            self._drop_void()

    def members(self) -> list[RunEntry]:
        """All Runs that wait here, in no particular order."""
        return [
            entry
            for _, _, token, entry in self._members
            if entry.equivalence_class is self and token == entry.token
        ]

    def first(self) -> RunEntry | None:
        """The Run that is first in order."""
        members = self._members
        while members:
            _, _, token, entry = members[0]
            if entry.equivalence_class is self and token == entry.token:
                return entry
            heapq.heappop(members)
        return None

    def _drop_void(self) -> None:
        """While its first Run waits on, Runs that are gone must not stay in memory."""
        self._members = [(entry.order, entry.arrival, entry.token, entry) for entry in self.members()]
        heapq.heapify(self._members)

    # Its way through the queue

    def void(self) -> None:
        """Its queue entries are void from here on."""
        self.token += 1

    def wake(self) -> None:
        """Something changed: its first Run is to be tried."""
        self.awake = True
        self.swept = False

    def sleep(self) -> None:
        """Its answer is known to hold until something changes."""
        self.awake = False

    def begin_cycle(self) -> None:
        """Its first Run is being scheduled; no other one is tried meanwhile."""
        self.in_cycle = True

    def end_cycle(self) -> None:
        """Its first Run was tried."""
        self.in_cycle = False

    def begin_sweep(self) -> None:
        """The sweep tries it, although nothing woke it."""
        self.swept = True

    def rescued(self) -> bool:
        """Whether the sweep placed one of its Runs while it slept; then it goes on with the next one."""
        if not self.swept or self.awake:
            return False
        self.awake = True
        return True

    def keep_apart(self) -> None:
        """Let it be tried by itself next time."""
        self.retry_alone = True

    def arm(self, at: int, now: int) -> bool:
        """Set when a rejection may turn, in ticks; False if an earlier time is set already."""
        if self.retry_at is not None and now < self.retry_at <= at:
            return False
        self.retry_at = at
        return True


_Item = tuple[Order, int, "RunEntry | EquivalenceClass", int]
"""Order, a number of its own (so that nothing behind it is compared), the target and its token."""


class ActiveQueue:
    """A heap by the order of Runs; a class stands where its first Run stands."""

    def __init__(self) -> None:
        self._heap: list[_Item] = []
        self._number = 0

    def push(self, entry: RunEntry) -> None:
        """Queue a Run, unless it is queued."""
        if entry.stage is not Stage.QUEUED:
            entry.enter(Stage.QUEUED)
            self._push(entry.order, entry, entry.token)

    def push_class(self, waiting: EquivalenceClass) -> None:
        """Queue a class at the place of its first Run."""
        first = waiting.first()
        if first is not None:
            waiting.void()
            self._push(first.order, waiting, waiting.token)

    def pop(self) -> RunEntry | EquivalenceClass | None:
        """The Run or class that is next; None when nothing can be tried."""
        target = self.peek()
        if target is not None:
            self.pop_peeked()
        return target

    def pop_peeked(self) -> None:
        """Take out what `peek` has just given."""
        heapq.heappop(self._heap)

    def peek(self) -> RunEntry | EquivalenceClass | None:
        """What `pop` would give."""
        while self._heap:
            order, _, target, token = self._heap[0]
            moved = False
            if token == target.token:
                if isinstance(target, RunEntry):
                    return target
                first = target.first()
                if first is not None and target.awake and not target.in_cycle:
                    if first.order == order:
                        return target
                    moved = True
            heapq.heappop(self._heap)
            if moved and not isinstance(target, RunEntry):
                self.push_class(target)
        return None

    def __len__(self) -> int:
        return len(self._heap)

    def _push(self, order: Order, target: RunEntry | EquivalenceClass, token: int) -> None:
        self._number += 1
        heapq.heappush(self._heap, (order, self._number, target, token))
        if self._number % _CLEANED_EVERY == 0:
            self._drop_void()

    def _drop_void(self) -> None:
        """Where nothing is popped, as in a standby, Runs that are gone must not stay in memory."""
        self._heap = [item for item in self._heap if item[3] == item[2].token]
        heapq.heapify(self._heap)
