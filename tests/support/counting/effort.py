"""How much code runs, how much memory is taken and how often a clock is read, to do one thing.

If code and memory are the same in a cluster of twice the size, nothing loops over what exists: neither in
Python, which shows as lines, nor in C, where a copy of a large table shows as memory.
"""

from __future__ import annotations

import asyncio
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import Now

_OURS = "kruntimes_"
_APART = ("kruntimes_core.testing", "kruntimes_core.lab")


@dataclass(frozen=True, slots=True)
class Effort:
    """What was done."""

    lines: int
    """Lines of the host and its plugins that ran; those of the driver do not count."""
    peak_bytes: int
    """The most memory that was taken for it at a time."""


def effort(actions: Iterator[Callable[[], object]]) -> Effort:
    """What one of some actions of one kind takes; it does a few of them.

    The least memory of three counts: now and then an action makes a table of Python's grow.
    """
    lines = _lines(next(actions))
    return Effort(lines, min(_peak_bytes(action) for action in islice(actions, 3)))


def _lines(action: Callable[[], object]) -> int:
    with counted_lines() as lines:
        action()
    return lines()


@contextmanager
def counted_lines(beside: tuple[str, ...] = ()) -> Iterator[Callable[[], int]]:
    """Gives how many lines of ours have run within the block, those of coroutines too.

    beside: what modules that begin so call is theirs, and does not count.
    """
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if event == "line":
            count += 1
        return step

    def call(frame: FrameType, event: str, argument: object) -> Any:
        name = _module(frame)
        ours = name.startswith(_OURS) and not name.startswith(_APART)
        return step if ours and not (beside and _called_by(frame, beside)) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield lambda: count
    finally:
        sys.settrace(before)


def _called_by(frame: FrameType, modules: tuple[str, ...]) -> bool:
    caller = frame.f_back
    while caller is not None:
        if _module(caller).startswith(modules):
            return True
        caller = caller.f_back
    return False


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _peak_bytes(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


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


class Ticks:
    """Nanoseconds; what takes time is only what `spend` says."""

    def __init__(self) -> None:
        self._nanoseconds = 0

    def __call__(self) -> int:
        return self._nanoseconds

    def spend(self, nanoseconds: int) -> None:
        """Let time pass."""
        self._nanoseconds += nanoseconds
