"""The queue: one key a Run, coalesced, and beside them the classes that may place a Run now."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from kruntimes_core.engine.runs import Order, RunEntry, Stage

if TYPE_CHECKING:
    from kruntimes_core.engine.queueing.classes import WaitingClass

_CLEANED_EVERY = 1024


_Item = tuple[Order, int, "RunEntry | WaitingClass", int]
"""Order, a number of its own (so that nothing behind it is compared), the target and its token."""


class Queue:
    """A heap by the order of Runs; a class stands where its first Run stands."""

    def __init__(self) -> None:
        self._heap: list[_Item] = []
        self._number = 0

    def push(self, entry: RunEntry) -> None:
        """Queue a Run; again while it is queued changes nothing."""
        if entry.stage is not Stage.QUEUED:
            entry.leave()
            entry.stage = Stage.QUEUED
            self._push(entry.order, entry, entry.token)

    def push_class(self, waiting: WaitingClass) -> None:
        """Queue a class at the place of its first Run."""
        first = waiting.first()
        if first is not None:
            waiting.token += 1
            self._push(first.order, waiting, waiting.token)

    def pop(self) -> RunEntry | WaitingClass | None:
        """The Run or class that is next; None when nothing can be tried."""
        target = self.next()
        if target is not None:
            self.advance()
        return target

    def advance(self) -> None:
        """Take out what `next` has just given."""
        heapq.heappop(self._heap)

    def next(self) -> RunEntry | WaitingClass | None:
        """What `pop` would give."""
        while self._heap:
            order, _, target, token = self._heap[0]
            moved = False
            if token == target.token:
                if isinstance(target, RunEntry):
                    return target
                first = target.first()
                if first is not None and target.awake and not target.busy:
                    if first.order == order:
                        return target
                    moved = True
            heapq.heappop(self._heap)
            if moved and not isinstance(target, RunEntry):
                self.push_class(target)
        return None

    def __len__(self) -> int:
        return len(self._heap)

    def _push(self, order: Order, target: RunEntry | WaitingClass, token: int) -> None:
        self._number += 1
        heapq.heappush(self._heap, (order, self._number, target, token))
        if self._number % _CLEANED_EVERY == 0:
            self._drop_void()

    def _drop_void(self) -> None:
        """Where nothing is popped, as in a standby, Runs that are gone must not stay for ever."""
        self._heap = [item for item in self._heap if item[3] == item[2].token]
        heapq.heapify(self._heap)
