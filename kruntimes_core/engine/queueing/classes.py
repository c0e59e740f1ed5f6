"""Classes of waiting Runs: one answer holds for all Runs with equal plugin states.

So a freed slot costs one evaluation for each class and changed Pod, and one cycle for each Run that
is placed, however many Runs wait.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable

from kruntimes_core.engine.queueing.needs import Needs
from kruntimes_core.engine.runs import Order, RunEntry, Stage

ClassKey = tuple[str, str, str, Hashable]
"""(namespace, Runtime, profile, key of the states)."""


_Member = tuple[Order, int, int, RunEntry]
"""Order, arrival, token, and the Run: no two that differ are alike before the Run, which has no order."""


class WaitingClass:
    """Waiting Runs of one namespace, Runtime and profile with equal plugin states."""

    __slots__ = (
        "_members",
        "alarm",
        "alone",
        "awake",
        "busy",
        "key",
        "needs",
        "size",
        "swept",
        "token",
    )

    def __init__(self, key: ClassKey, needs: Needs) -> None:
        self.key = key
        self.needs = needs
        self.token = 0
        """Void queue entries bear an older one."""
        self.awake = False
        """Something changed that was not evaluated for it yet."""
        self.busy = False
        """Its first Run is in work."""
        self.swept = False
        """Tried by the sweep, and not because it was woken."""
        self.alone = False
        """To be tried apart from other classes: a round of offers with it did not come back."""
        self.alarm: int | None = None
        """When a rejection may turn by itself, in ticks."""
        self.size = 0
        self._members: list[_Member] = []

    def add(self, entry: RunEntry) -> None:
        """Let a Run wait here; it must be in no other class."""
        entry.waits_in = self
        entry.stage = Stage.WAITING
        self.size += 1
        heapq.heappush(self._members, (entry.order, entry.arrival, entry.token, entry))

    def remove(self, entry: RunEntry) -> None:
        """Take a Run out."""
        entry.waits_in = None
        entry.leave()
        self.size -= 1

    def members(self) -> list[RunEntry]:
        """All Runs that wait here, in no particular order."""
        return [
            entry for _, _, token, entry in self._members if entry.waits_in is self and token == entry.token
        ]

    def first(self) -> RunEntry | None:
        """The Run that is first in order."""
        members = self._members
        while members:
            _, _, token, entry = members[0]
            if entry.waits_in is self and token == entry.token:
                return entry
            heapq.heappop(members)
        return None
