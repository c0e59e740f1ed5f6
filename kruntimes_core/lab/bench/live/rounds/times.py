"""When the Runs of one round were seen created and placed, and what had been used by then."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kruntimes_core.lab.bench.live.made.objects import ROLE_LABEL
from kruntimes_core.lab.bench.live.scheduler.usage import Usage
from kruntimes_core.lab.invariants import ENDED, RunVersion

Key = tuple[str, str]
"""Namespace and name of a Run."""


@dataclass(slots=True)
class Times:
    """One Run; moments in seconds of a clock that only goes on."""

    created_at: float | None = None
    placed_at: float | None = None
    ended_at: float | None = None
    versions: list[str] = field(default_factory=list)
    """Of every event about it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How things stood at one moment of a round."""

    at: float
    scheduler: Usage | None
    """None where nobody knows."""
    bench_seconds: float
    """Processor time of the bench."""


class Book:
    """Takes note of the Runs of one role."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._measure: Callable[[], Usage | None] = lambda: None
        self.runs: dict[Key, Times] = {}
        self.beside: list[str] = []
        """Versions of Runs of other roles, from the release on."""
        self.placed = 0
        self.expected: int | None = None
        """How many Runs there will be; None while nobody knows."""
        self.released: Mark | None = None
        """When the scheduler could begin."""
        self.first: Mark | None = None
        """When the first Run was placed, and the last one, or a moment after it where some were not."""
        self.last: Mark | None = None
        self.on_placed: Callable[[RunVersion], None] = lambda run: None

    def release(self, measure: Callable[[], Usage | None]) -> None:
        """From now on the scheduler can place. measure: gives what it has used so far."""
        self._measure = measure
        self.released = self._mark()

    def pause(self) -> None:
        """No Run has been placed for a while, and none may be any more."""
        self.last = self._mark()

    def finish(self) -> None:
        """The round is over, whether or not every Run was placed."""
        self.last = self.last or self._mark()

    @property
    def done(self) -> bool:
        """Whether every Run was placed."""
        return self.expected is not None and self.placed >= self.expected

    def heard(self, run: RunVersion, at: float) -> None:
        """See `observing.observer.Heard`."""
        if run.labels.get(ROLE_LABEL) != self._role:
            if self.released is not None:
                self.beside.append(run.version)
            return
        times = self.runs.setdefault((run.namespace, run.name), Times())
        times.versions.append(run.version)
        if times.created_at is None:
            times.created_at = at
        # One that is quick may end before its placement is seen: a watch that was opened again skips.
        if times.placed_at is None and (run.active or run.phase in ENDED) and run.pod_uid:
            times.placed_at = at
            self._placed(run)
        if times.ended_at is None and (run.gone or run.phase in ENDED):
            times.ended_at = at

    def _placed(self, run: RunVersion) -> None:
        self.placed += 1
        if self.first is None:
            self.first = self._mark()
        if self.done:
            self.last = self._mark()
        self.on_placed(run)

    def _mark(self) -> Mark:
        return Mark(time.monotonic(), self._measure(), time.process_time())
