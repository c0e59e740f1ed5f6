"""What is spent on each part of a repeat, by a clock that the caller chooses."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Nanoseconds that only go forward."""

processor_clock: Clock = time.thread_time_ns
"""Of this thread alone: what else the machine does meanwhile does not count. A look takes 0.5 to 0.9
microseconds."""

fine_clock: Clock = time.perf_counter_ns
"""For what is shorter than a look at the other clock; counts what others do meanwhile, too. A look takes 0.06
microseconds."""


class Stopwatch:
    """Adds up the time of parts that are measured one after another."""

    def __init__(self, clock: Clock = processor_clock) -> None:
        self._clock = clock
        self._since = 0
        self.spent: dict[str, int] = {}
        """Nanoseconds by part, in the order in which the parts first came."""

    def start(self) -> None:
        """Begin the first of some parts; what went before is nobody's."""
        self._since = self._clock()

    def lap(self, part: str) -> None:
        """End a part, and begin the next one."""
        now = self._clock()
        self.spent[part] = self.spent.get(part, 0) + now - self._since
        self._since = self._clock()

    def taken(self) -> dict[str, int]:
        """What was spent since this was asked last."""
        spent, self.spent = self.spent, {}
        return spent
