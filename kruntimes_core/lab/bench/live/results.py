"""What came out of a bench: of each round, of all, and the document of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean
from typing import Any

from kruntimes_core.lab.bench.figures import Latency, Spread, Window, latency, rate, spread, windows
from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.live.round import Book, Mark
from kruntimes_core.lab.invariants import Invariant, Violation

_EMBEDDED = "kruntimes-dev"


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
class MachineInfo:
    """Where the bench ran."""

    processors: int
    load_average: float | None
    """Of the minute before it began; None where nobody knows."""

    @classmethod
    def now(cls) -> MachineInfo:
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
    machine: MachineInfo
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

    @property
    def ceiling_rate(self) -> Spread | None:
        """Bare patches a second."""
        return spread(rate for samples in self.ceiling for rate in samples)


def round_of(
    number: int,
    book: Book,
    *,
    waited: bool,
    own_versions: Container[str],
    ceiling: Sequence[float],
    in_flight: int,
    late_seconds: float,
) -> RoundResult:
    """The figures of a round that is over.

    waited: all Runs were there before the scheduler could begin; it is from then on that they waited for
    it. own_versions: what others than the scheduler wrote.
    """
    marks = _marks(book, waited=waited)
    moments = _moments(book, waited=waited, released_at=marks.released.at)
    versions = [one.versions for one in book.runs.values()]
    used = marks.last.scheduler
    return RoundResult(
        number=number,
        expected=book.expected or 0,
        placements=moments.placements,
        created_at=moments.created_at,
        counted=max(len(moments.placements) - waited, 0),
        seconds=max((at for at, _ in moments.placements), default=0.0),
        first_seconds=book.first.at - marks.released.at if book.first is not None else None,
        ceiling=ceiling,
        in_flight=in_flight,
        writes=_mean([sum(one not in own_versions for one in each) for each in versions]),
        events=_mean([len(each) for each in versions]),
        beside_writes=sum(one not in own_versions for one in book.beside),
        start_processor_seconds=_between(marks.released, book.first or marks.last),
        processor_seconds=_between(marks.began, marks.last),
        resident_bytes=used.resident_bytes if used is not None else None,
        peak_bytes=used.peak_bytes if used is not None else None,
        bench_processor_seconds=marks.last.bench_seconds - marks.began.bench_seconds,
        late_seconds=late_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Marks:
    """How things stood when the scheduler could begin, when its costs began to count, and at the end."""

    released: Mark
    began: Mark
    last: Mark


def _marks(book: Book, *, waited: bool) -> _Marks:
    """See `round_of`. Where all Runs waited, what it takes to start is not a placement's."""
    if book.released is None or book.last is None:
        raise ValueError("the round is not over")
    return _Marks(book.released, (book.first or book.last) if waited else book.released, book.last)


@dataclass(frozen=True, slots=True)
class _Moments:
    """See `Round`."""

    placements: list[tuple[float, float]]
    created_at: list[float]


def _moments(book: Book, *, waited: bool, released_at: float) -> _Moments:
    """When Runs came and were placed, from the beginning of the measurement on."""
    created = [run.created_at for run in book.runs.values() if run.created_at is not None]
    placed = [(run.placed_at, run.created_at) for run in book.runs.values() if run.placed_at is not None]
    known = [at for at, _ in placed] if waited else created
    if not known:
        return _Moments([], [])
    began = min(known)
    # A Run that was there before the scheduler could begin waited for it from then on.
    start = released_at if waited else began
    placements = [(at - began, at - max(created_at or start, start)) for at, created_at in placed]
    return _Moments(sorted(placements), sorted(at - began for at in created))


def _between(start: Mark, end: Mark) -> float | None:
    """What the scheduler used between two moments."""
    if start.scheduler is None or end.scheduler is None:
        return None
    return end.scheduler.processor_seconds - start.scheduler.processor_seconds


def _mean(values: Sequence[int]) -> float:
    return fmean(values) if values else 0.0


API_VERSION = "kruntimes.io/bench/v1"
Document = dict[str, Any]
_DIGITS = 6


def bench_document(results: Results, window_seconds: float) -> Document:
    """The document; seconds and bytes. window_seconds: the length of a round's windows."""
    ceiling = results.ceiling_rate
    return {
        "apiVersion": API_VERSION,
        "bench": results.bench,
        "startedAt": results.started_at,
        "passed": results.passed,
        "server": {"url": results.server, "version": results.version, "real": results.real},
        "machine": {
            "processors": results.machine.processors,
            "loadAverage": _rounded(results.machine.load_average),
        },
        "scheduler": {
            "command": list(results.command) if results.command is not None else None,
            "pid": results.pid,
        },
        "load": _load(results.load),
        "ceiling": {
            "inFlight": results.in_flight,
            "perSecond": _spread(ceiling),
            "samples": [[_rounded(rate) for rate in samples] for samples in results.ceiling],
        },
        "summary": {key: _spread(spread(map(figure, results.rounds))) for key, figure in SUMMARY.items()},
        "rounds": [_round(one, window_seconds) for one in results.rounds],
        "invariants": [_rule(results, rule) for rule in Invariant],
        "gaps": results.gaps,
    }


def _latency_figure(name: str) -> Callable[[RoundResult], float | None]:
    return lambda one: getattr(one.latency, name) if one.latency is not None else None


SUMMARY: dict[str, Callable[[RoundResult], float | None]] = {
    "perSecond": lambda one: one.rate,
    "ceilingPerSecond": lambda one: one.ceiling_rate,
    "shareOfCeiling": lambda one: one.share,
    "p50Seconds": _latency_figure("p50"),
    "p95Seconds": _latency_figure("p95"),
    "p99Seconds": _latency_figure("p99"),
    "firstSeconds": lambda one: one.first_seconds,
    "writesPerRun": lambda one: one.writes,
    "eventsPerRun": lambda one: one.events,
    "writesBeside": lambda one: one.beside_writes,
    "startProcessorSeconds": lambda one: one.start_processor_seconds,
    "processorSecondsPerRun": lambda one: one.processor_seconds_a_run,
    "residentBytes": lambda one: one.resident_bytes,
    "peakBytes": lambda one: one.peak_bytes,
    "benchProcessorSeconds": lambda one: one.bench_processor_seconds,
    "lateSeconds": lambda one: one.late_seconds,
}
"""The figures of a round, of which there is a spread over the rounds."""


def _load(load: BenchLoad) -> Document:
    is_open = load.mode is Mode.OPEN
    return {
        "mode": load.mode.value,
        "runs": None if is_open else load.runs,
        "ratePerSecond": load.rate if is_open else None,
        "seconds": load.seconds if is_open else None,
        "pods": load.pods,
        "slots": load.slots_of_a_pod,
        "durationSeconds": list(load.duration) if load.duration is not None else None,
        "hopeless": load.hopeless,
        "waitingElsewhere": load.waiting_elsewhere,
        "namespaces": load.namespaces,
        "runtimes": load.runtimes,
        "heartbeatSeconds": load.heartbeat_seconds,
        "cohorts": load.cohorts,
        "seed": load.seed,
    }


def _round(one: RoundResult, window_seconds: float) -> Document:
    return {
        "number": one.number,
        "runs": one.expected,
        "placed": one.placed,
        "seconds": _rounded(one.seconds),
        **{key: _rounded(figure(one)) for key, figure in SUMMARY.items()},
        "windows": [_window(window) for window in one.windows(window_seconds)],
    }


def _window(window: Window) -> Document:
    return {
        "from": _rounded(window.start),
        "to": _rounded(window.end),
        "created": window.created,
        "placed": window.placed,
        "perSecond": _rounded(window.rate),
        "latencySeconds": _latency(window.latency),
    }


def _latency(latency: Latency | None) -> Document | None:
    if latency is None:
        return None
    names = ("p50", "p95", "p99", "highest")
    return {name: _rounded(getattr(latency, name)) for name in names}


def _rule(results: Results, rule: Invariant) -> Document:
    broken = [violation.text for violation in results.violations if violation.invariant is rule]
    return {"name": rule.value, "broken": len(broken), "first": broken[0] if broken else None}


def _spread(spread: Spread | None) -> Document | None:
    if spread is None:
        return None
    return {
        "median": _rounded(spread.median),
        "lowest": _rounded(spread.lowest),
        "highest": _rounded(spread.highest),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
