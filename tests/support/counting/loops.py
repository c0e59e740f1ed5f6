"""How often a host looks at its clock and sets a timer: what a placement costs beside requests and cycles."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import Now


class CountedClock:
    """A `Clock` that knows how often it was read."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.readings = 0

    def now(self) -> Now:
        """See `Clock`."""
        self.readings += 1
        return self._clock.now()


@contextmanager
def counted_timers() -> Iterator[Counter[type]]:
    """How many timers are set on the running loop within the block, by the class whose method they call."""
    loop: Any = asyncio.get_running_loop()
    counts: Counter[type] = Counter()
    call_at = loop.call_at

    def counted(when: float, callback: Any, *arguments: Any, **more: Any) -> asyncio.TimerHandle:
        counts[type(getattr(callback, "__self__", None))] += 1
        handle: asyncio.TimerHandle = call_at(when, callback, *arguments, **more)
        return handle

    loop.call_at = counted
    try:
        yield counts
    finally:
        loop.call_at = call_at
