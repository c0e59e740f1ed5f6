"""Time as the engine knows it: readings of the driver's two clocks, and timers on the monotonic one."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

# Ticks in a second: the monotonic clock is read in microseconds, so that deadlines are exact.
SECOND = 1_000_000

_CLEANED_EVERY = 1024


@dataclass(frozen=True, slots=True)
class Now:
    """One moment. `wall` (aware, UTC) is what others write; `ticks` only ever goes forward."""

    wall: datetime
    ticks: int


def ticks(seconds: float) -> int:
    """A duration in ticks of the monotonic clock."""
    return round(seconds * SECOND)


class EngineClock:
    """The moment of the engine's current step. Only the engine's face advances it."""

    def __init__(self, now: Now) -> None:
        self.now = now

    def advance(self, now: Now) -> None:
        """Begin a step at this moment."""
        self.now = now

    def wall_at(self, at: int) -> datetime:
        """The wall clock's time at a later tick, or the last that can be written (see `plan --now`)."""
        try:
            return self.now.wall + timedelta(seconds=(at - self.now.ticks) / SECOND)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)

    def tick_of(self, moment: datetime) -> int:
        """The first tick at which the wall clock is past `moment`, as far as is known now."""
        return self.now.ticks + max(ticks((moment - self.now.wall).total_seconds()), 0)


@dataclass(order=True, slots=True)
class _Timer:
    at: int
    number: int
    still_due: Callable[[], bool] = field(compare=False)
    action: Callable[[], None] = field(compare=False)


class Timers:
    """A heap of timers. A timer is dropped once its own `still_due` says no."""

    def __init__(self) -> None:
        self._heap: list[_Timer] = []
        self._number = 0

    def at(self, ticks: int, still_due: Callable[[], bool], action: Callable[[], None]) -> None:
        """Call `action` at `ticks`, if `still_due` then."""
        self._number += 1
        heapq.heappush(self._heap, _Timer(ticks, self._number, still_due, action))
        if self._number % _CLEANED_EVERY == 0:
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
