"""The document of a bench, `kruntimes.io/bench/v1`.

docs/reference/bench-document.md says what each key means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kruntimes_core.lab.bench.live.load import Load, Mode
from kruntimes_core.lab.bench.live.report.figures import Latency, Spread, Window, spread
from kruntimes_core.lab.bench.live.report.results import Results, Round
from kruntimes_core.lab.invariants import Invariant

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


def _latency_figure(name: str) -> Callable[[Round], float | None]:
    return lambda one: getattr(one.latency, name) if one.latency is not None else None


SUMMARY: dict[str, Callable[[Round], float | None]] = {
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


def _load(load: Load) -> Document:
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


def _round(one: Round, window_seconds: float) -> Document:
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
