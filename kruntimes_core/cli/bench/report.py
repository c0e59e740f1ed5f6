"""The results of a bench on a terminal or in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.table import table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.live.results import Results
from kruntimes_core.lab.invariants import Invariant
from kruntimes_core.model.messages import counted, plural

_FIGURES = ("FIGURE", "MEDIAN", "LOWEST", "HIGHEST")
_WINDOWS = ("ROUND", "FROM", "TO", "PLACED", "A SECOND", "P50", "P99")
_MEBIBYTE = 2**20
NO_REAL_SERVER = "this server is that of kruntimes dev: its figures say nothing about a real cluster"


def _milliseconds(seconds: float) -> str:
    """A short time as people read it."""
    return f"{seconds * 1_000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


ROWS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "perSecond": ("placements a second", lambda value: f"{value:.1f}"),
    "ceilingPerSecond": ("bare patches a second: the ceiling", lambda value: f"{value:.1f}"),
    "shareOfCeiling": ("share of the ceiling", lambda value: f"{value:.0%}"),
    "p50Seconds": ("latency p50", _milliseconds),
    "p95Seconds": ("latency p95", _milliseconds),
    "p99Seconds": ("latency p99", _milliseconds),
    "firstSeconds": ("until the first placement", _milliseconds),
    "writesPerRun": ("writes for a Run", lambda value: f"{value:.2f}"),
    "eventsPerRun": ("watch events for a Run", lambda value: f"{value:.2f}"),
    "writesBeside": ("writes for Runs beside the load", lambda value: f"{value:.0f}"),
    "startProcessorSeconds": ("processor time until the first", _milliseconds),
    "processorSecondsPerRun": ("processor time for a Run", lambda value: f"{value * 1_000:.2f} ms"),
    "residentBytes": ("memory", lambda value: f"{value / _MEBIBYTE:.0f} MiB"),
    "peakBytes": ("memory at most", lambda value: f"{value / _MEBIBYTE:.0f} MiB"),
    "benchProcessorSeconds": ("processor time of the bench", _milliseconds),
    "lateSeconds": ("the bench looked late by", _milliseconds),
}
"""How each figure of the document is called here, and written."""


def report(results: Results, window_seconds: float, screen: Screen) -> Iterator[str]:
    """The lines of the whole report."""
    yield described(results.load)
    if not results.real:
        yield NO_REAL_SERVER
    yield ""
    yield from table(_FIGURES, figures(results), screen)
    yield ""
    yield from table(_WINDOWS, _windows(results, window_seconds), screen)
    yield ""
    yield from verdict(results)


def described(load: BenchLoad) -> str:
    """The load in a line."""
    come = (
        f"{load.rate:g} {plural(load.rate, 'Run')} a second for {load.seconds:g} s"
        if load.mode is Mode.OPEN
        else counted(load.runs, "Run")
    )
    extras = {
        "hopeless": load.hopeless,
        "waiting elsewhere": load.waiting_elsewhere,
        plural(load.cohorts, "cohort"): load.cohorts,
    }
    beside = "".join(f", {number} {what}" for what, number in extras.items() if number)
    places = f"{counted(load.pods, 'Pod')} of {counted(load.slots_of_a_pod, 'slot')}"
    parts = f"{counted(load.namespaces, 'namespace')}, {counted(load.runtimes, 'Runtime')}"
    return f"{load.mode.value}: {come} on {places}, {parts}{beside}"


def figures(results: Results) -> list[tuple[str, str, str, str]]:
    """The rows of what was measured: its name, the median over the rounds, the lowest, the highest."""
    rows = []
    for key, spread in results.summary().items():
        name, shown = ROWS[key]
        if spread is not None:
            rows.append((name, shown(spread.median), shown(spread.lowest), shown(spread.highest)))
    return rows


def _windows(results: Results, window_seconds: float) -> Iterator[tuple[object, ...]]:
    for one in results.rounds:
        for window in one.windows(window_seconds):
            yield (
                one.number,
                f"{window.start:.1f}s",
                f"{window.end:.1f}s",
                window.placed,
                f"{window.rate:.1f}" if window.rate is not None else None,
                _milliseconds(window.latency.p50) if window.latency is not None else None,
                _milliseconds(window.latency.p99) if window.latency is not None else None,
            )


def verdict(results: Results) -> list[str]:
    """What is wrong, a line each; or that nothing is."""
    expected, placed = (sum(getattr(one, name) for one in results.rounds) for name in ("expected", "placed"))
    lines = [f"placed: {placed} of {counted(expected, 'Run')}"]
    for invariant in Invariant:
        first = results.first_violation(invariant)
        if first is not None:
            often = counted(results.broken[invariant.value], "time")
            lines.append(f"broken: {invariant.value}, {often}, first: {printable(first)}")
    if results.gaps:
        often = counted(results.gaps, "time")
        lines.append(f"the bench's watch was interrupted {often}: it may have missed something")
    if not results.violations and not results.gaps:
        lines.append("every rule was kept")
    return lines
