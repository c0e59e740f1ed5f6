"""What is to happen at later moments of virtual time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator


class Agenda:
    """Actions by their moment, in ticks; of one moment, in the order in which they were agreed on."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Callable[[], object]]] = []
        self._agreed = 0

    def at(self, moment: int, action: Callable[[], object]) -> None:
        """Do something then. What it gives is of no interest."""
        self._agreed += 1
        heapq.heappush(self._heap, (moment, self._agreed, action))

    @property
    def next(self) -> int | None:
        """The next moment at which there is something to do."""
        return self._heap[0][0] if self._heap else None

    def due(self, moment: int) -> Iterator[Callable[[], object]]:
        """What is due by then, taken off one by one: an action may agree on more."""
        while self._heap and self._heap[0][0] <= moment:
            yield heapq.heappop(self._heap)[2]
