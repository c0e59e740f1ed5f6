"""What came out of a bench, as values: of each round, and of all."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import harmonic_mean

from kruntimes_core.lab.bench.live.load import Load
from kruntimes_core.lab.bench.live.report.figures import (
    Latency,
    Spread,
    Window,
    latency,
    rate,
    spread,
    windows,
)
from kruntimes_core.lab.invariants import Violation

_EMBEDDED = "kruntimes-dev"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One load. Times in seconds, those of moments from the beginning of its measurement.

    It begins with the first placement where all Runs waited already, so that the start of the scheduler
    is not in it, else when the first Run was seen; it ends with the last placement.
    """

    number: int
    expected: int
    """How many Runs came."""
    placements: Sequence[tuple[float, float]]
    """When each Run was placed, and how long it had waited."""
    created_at: Sequence[float]
    counted: int
    """How many placements there were after the beginning."""
    seconds: float
    first_seconds: float | None
    """From when the scheduler could begin to the first placement."""
    ceiling: Sequence[float]
    """Bare patches a second, in samples before and after it."""
    in_flight: int
    """Bare patches at a time."""
    writes: float
    """Versions of a Run that neither its owner nor its Pod made; the mean."""
    events: float
    """Watch events about a Run; the mean."""
    beside_writes: int
    """Versions of Runs beside the load that the bench did not make, as long as the scheduler could write."""
    start_processor_seconds: float | None
    """What the scheduler used from when it could begin to the first placement."""
    processor_seconds: float | None
    """What it used from the beginning to the last placement."""
    resident_bytes: int | None
    """Of the scheduler at the last placement."""
    peak_bytes: int | None
    bench_processor_seconds: float
    """What the bench itself used."""
    late_seconds: float
    """By how much the bench looked late at most: it had to wait for the processor."""

    @property
    def placed(self) -> int:
        """How many Runs were placed."""
        return len(self.placements)

    @property
    def rate(self) -> float | None:
        """Placements a second; None for none, or in a time that is too short."""
        return rate(self.counted, self.seconds) if self.counted else None

    @property
    def share(self) -> float | None:
        """The rate as a share of the ceiling; None for as few Runs as may all be under way at once."""
        if self.rate is None or self.placed <= self.in_flight:
            return None
        return self.rate / self.ceiling_rate

    @property
    def ceiling_rate(self) -> float:
        """Bare patches a second: all of them, by the time that they took together."""
        return harmonic_mean(self.ceiling)

    @property
    def latency(self) -> Latency | None:
        """Of all its Runs."""
        return latency(waited for _, waited in self.placements)

    @property
    def processor_seconds_a_run(self) -> float | None:
        """Of the scheduler, for each placement that is counted."""
        if self.processor_seconds is None or not self.counted:
            return None
        return self.processor_seconds / self.counted

    def windows(self, length: float) -> list[Window]:
        """It in pieces of `length` seconds."""
        return windows(self.created_at, self.placements, self.seconds, length)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the bench ran."""

    processors: int
    load_average: float | None
    """Of the minute before it began; None where nobody knows."""

    @classmethod
    def now(cls) -> Machine:
        """The machine of this process."""
        known = hasattr(os, "getloadavg")
        return cls(os.cpu_count() or 1, os.getloadavg()[0] if known else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A whole bench."""

    bench: str
    """What tells it from others: the value of its label."""
    started_at: str
    server: str
    version: str
    """What the server says it is."""
    machine: Machine
    command: Sequence[str] | None
    """The scheduler that was started; None for one that ran already."""
    pid: int | None
    load: Load
    in_flight: int
    rounds: Sequence[Round]
    ceiling: Sequence[Sequence[float]]
    """Each measurement of it, in its samples."""
    violations: Sequence[Violation]
    gaps: int
    """How often the bench's watches missed something, so that the judgement is incomplete."""

    @property
    def real(self) -> bool:
        """Whether the server is one of Kubernetes, and not that of `kruntimes dev`."""
        return _EMBEDDED not in self.version

    @property
    def passed(self) -> bool:
        """Whether every Run was placed, nothing was broken, and everything was seen."""
        placed = all(one.placed == one.expected for one in self.rounds)
        return placed and not self.violations and not self.gaps

    @property
    def broken(self) -> Counter[str]:
        """How often each rule was broken."""
        return Counter(violation.invariant.value for violation in self.violations)

    @property
    def ceiling_rate(self) -> Spread | None:
        """Bare patches a second."""
        return spread(rate for samples in self.ceiling for rate in samples)
