"""What came out of a bench: of each round, of all, and the document of it.

docs/reference/bench-document.md says what each key means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, harmonic_mean
from typing import Any

from kruntimes_core.lab.bench.figures import Spread, Window, latency, rate, rounded, spread, windows
from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.live.round import LoadRound, Mark, RunTimes
from kruntimes_core.lab.invariants import Invariant, Violation

API_VERSION = "kruntimes.io/bench/v1"
Document = dict[str, Any]
_EMBEDDED = "kruntimes-dev"
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
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
    seconds: float
    figures: Mapping[str, float | None]
    """Those of `round_of`; None for what is unknown, or says nothing."""

    @property
    def placed(self) -> int:
        """How many Runs were placed."""
        return len(self.placements)

    def windows(self, length: float) -> list[Window]:
        """It in pieces of `length` seconds."""
        return windows(self.created_at, self.placements, self.seconds, length)

    def document(self, window_seconds: float) -> Document:
        """The round as the document has it."""
        return {
            "number": self.number,
            "runs": self.expected,
            "placed": self.placed,
            "seconds": self.seconds,
            **self.figures,
            "windows": [
                {
                    "from": window.start,
                    "to": window.end,
                    "created": window.created,
                    "placed": window.placed,
                    "perSecond": window.rate,
                    "latencySeconds": asdict(window.latency) if window.latency is not None else None,
                }
                for window in self.windows(window_seconds)
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A whole bench."""

    bench: str
    """What tells it from others: the value of its label."""
    started_at: str
    server: str
    version: str
    """What the server says it is."""
    processors: int
    """Of the machine on which the bench ran."""
    load_average: float | None
    """Of the minute before it began; None where that is unknown."""
    command: Sequence[str] | None
    """The scheduler that was started; None for one that ran already."""
    pid: int | None
    load: BenchLoad
    in_flight: int
    rounds: Sequence[RoundResult]
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

    def first_violation(self, invariant: Invariant) -> str | None:
        """What broke a rule first."""
        return next((one.text for one in self.violations if one.invariant is invariant), None)

    def summary(self) -> dict[str, Spread | None]:
        """Each figure over the rounds."""
        return {key: spread(one.figures[key] for one in self.rounds) for key in self.rounds[0].figures}

    def document(self, window_seconds: float) -> Document:
        """The document; seconds and bytes. window_seconds: the length of a round's windows."""
        bare = spread(rate for samples in self.ceiling for rate in samples)
        document: Document = rounded(
            {
                "apiVersion": API_VERSION,
                "bench": self.bench,
                "startedAt": self.started_at,
                "passed": self.passed,
                "server": {"url": self.server, "version": self.version, "real": self.real},
                "machine": {"processors": self.processors, "loadAverage": self.load_average},
                "scheduler": {"command": self.command, "pid": self.pid},
                "load": _load(self.load),
                "ceiling": {"inFlight": self.in_flight, "perSecond": _spread(bare), "samples": self.ceiling},
                "summary": {key: _spread(found) for key, found in self.summary().items()},
                "rounds": [one.document(window_seconds) for one in self.rounds],
                "invariants": [
                    {"name": one.value, "broken": self.broken[one.value], "first": self.first_violation(one)}
                    for one in Invariant
                ],
                "gaps": self.gaps,
            },
            _DIGITS,
        )
        return document


# From what was noted in a round to its figures


def round_of(
    number: int,
    round_: LoadRound,
    *,
    waited: bool,
    own_versions: Container[str],
    ceiling: Sequence[float],
    in_flight: int,
    late_seconds: float,
) -> RoundResult:
    """The figures of a round that is over.

    waited: all Runs were there before the scheduler could begin; it is from then on that they waited for
    it, and what it takes to start is not a placement's. own_versions: what others than the scheduler
    wrote. ceiling: bare patches a second, in samples before and after the round, `in_flight` at a time.
    """
    released, first, last = round_.released, round_.first, round_.last
    if released is None or last is None:
        raise ValueError("the round is not over")
    runs = list(round_.runs.values())
    placements, created_at = _moments(runs, released.at if waited else None)
    seconds = max((at for at, _ in placements), default=0.0)
    counted = max(len(placements) - waited, 0)
    began = (first or last) if waited else released
    per_second = rate(counted, seconds) if counted else None
    # All bare patches, by the time that they took together.
    bare = harmonic_mean(ceiling)
    waits = latency(wait for _, wait in placements)
    used = _used(began, last)
    figures = {
        "perSecond": per_second,
        "ceilingPerSecond": bare,
        # As few Runs as may all be under way at once are answered nearly at once.
        "shareOfCeiling": per_second / bare if per_second and len(placements) > in_flight else None,
        "p50Seconds": waits.p50 if waits is not None else None,
        "p95Seconds": waits.p95 if waits is not None else None,
        "p99Seconds": waits.p99 if waits is not None else None,
        "firstSeconds": first.at - released.at if first is not None else None,
        "writesPerRun": _mean([sum(one not in own_versions for one in run.versions) for run in runs]),
        "eventsPerRun": _mean([len(run.versions) for run in runs]),
        "writesBeside": sum(one not in own_versions for one in round_.beside_versions),
        "startProcessorSeconds": _used(released, first or last),
        "processorSecondsPerRun": used / counted if used is not None and counted else None,
        "residentBytes": last.scheduler.resident_bytes if last.scheduler is not None else None,
        "peakBytes": last.scheduler.peak_bytes if last.scheduler is not None else None,
        "benchProcessorSeconds": last.bench_seconds - began.bench_seconds,
        "lateSeconds": late_seconds,
    }
    return RoundResult(
        number=number,
        expected=round_.expected or 0,
        placements=placements,
        created_at=created_at,
        seconds=seconds,
        figures=figures,
    )


def _moments(
    runs: Sequence[RunTimes], released_at: float | None
) -> tuple[list[tuple[float, float]], list[float]]:
    """When Runs were placed, with how long each had waited, and when they came; see `RoundResult`.

    released_at: when the scheduler could begin, if they all waited before; it is then that they begin to.
    """
    created = [run.created_at for run in runs]
    placed = [(run.placed_at, run.created_at) for run in runs if run.placed_at is not None]
    known = created if released_at is None else [at for at, _ in placed]
    if not known:
        return [], []
    began, earliest = min(known), released_at if released_at is not None else min(known)
    placements = [(at - began, at - max(created_at, earliest)) for at, created_at in placed]
    return sorted(placements), sorted(at - began for at in created)


def _used(start: Mark, end: Mark) -> float | None:
    """Processor time that the scheduler used between two moments."""
    if start.scheduler is None or end.scheduler is None:
        return None
    return end.scheduler.processor_seconds - start.scheduler.processor_seconds


def _mean(values: Sequence[int]) -> float:
    return fmean(values) if values else 0.0


def _load(load: BenchLoad) -> Document:
    is_open = load.mode is Mode.OPEN
    return {
        "mode": load.mode.value,
        "runs": None if is_open else load.runs,
        "ratePerSecond": load.rate if is_open else None,
        "seconds": load.seconds if is_open else None,
        "pods": load.pods,
        "slots": load.slots_of_a_pod,
        "durationSeconds": load.duration,
        "hopeless": load.hopeless,
        "waitingElsewhere": load.waiting_elsewhere,
        "namespaces": load.namespaces,
        "runtimes": load.runtimes,
        "heartbeatSeconds": load.heartbeat_seconds,
        "cohorts": load.cohorts,
        "seed": load.seed,
    }


def _spread(found: Spread | None) -> Document | None:
    return asdict(found) if found is not None else None
