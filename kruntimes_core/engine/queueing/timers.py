"""Things to do at a time, in ticks of the monotonic clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class _Timer:
    at: int
    number: int
    still_due: Callable[[], bool] = field(compare=False)
    action: Callable[[], None] = field(compare=False)


class Timers:
    """A heap of timers. A timer that is not wanted any more says so itself and is dropped."""

    def __init__(self) -> None:
        self._heap: list[_Timer] = []
        self._number = 0

    def at(self, ticks: int, still_due: Callable[[], bool], action: Callable[[], None]) -> None:
        """Call `action` at `ticks`, if `still_due` then."""
        self._number += 1
        heapq.heappush(self._heap, _Timer(ticks, self._number, still_due, action))
        if self._number % 1024 == 0:
            self._drop_void()

    def due(self, ticks: int) -> Iterator[Callable[[], None]]:
        """The actions whose time has come."""
        while self._heap and self._heap[0].at <= ticks:
            timer = heapq.heappop(self._heap)
            if timer.still_due():
                yield timer.action

    @property
    def next(self) -> int | None:
        """When the next timer fires."""
        while self._heap and not self._heap[0].still_due():
            heapq.heappop(self._heap)
        return self._heap[0].at if self._heap else None

    def __len__(self) -> int:
        return len(self._heap)

    def _drop_void(self) -> None:
        """Deleted Runs must not stay in memory until their timers would have fired."""
        self._heap = [timer for timer in self._heap if timer.still_due()]
        heapq.heapify(self._heap)
