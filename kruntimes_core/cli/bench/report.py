"""Measures a scheduler as the options of `kruntimes bench` say; the results as tables and as a picture."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import floor, log10
from pathlib import Path
from typing import Any, TypeVar

from kruntimes_core import __version__
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, print_lines, print_note, print_notes, standard_output
from kruntimes_core.cli.output.table import table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.lab.bench.live.bench import measure
from kruntimes_core.lab.bench.live.load import BenchLoad, BenchSettings, Mode
from kruntimes_core.lab.bench.live.results import Results, RoundResult
from kruntimes_core.lab.bench.live.scheduler import SchedulerEndedError
from kruntimes_core.lab.invariants import Invariant
from kruntimes_core.model.messages import InputError, counted, plural

T = TypeVar("T")
_FIGURES = ("FIGURE", "MEDIAN", "LOWEST", "HIGHEST")
_WINDOWS = ("ROUND", "FROM", "TO", "PLACED", "A SECOND", "P50", "P99")
_MEBIBYTE = 2**20
NO_REAL_SERVER = "this server is that of kruntimes dev: its figures say nothing about a real cluster"


def measure_and_show(options: Mapping[str, Any], window: float, form: str, html: str | None) -> Exit:
    """Measure as the options of the command say. Raises `InputError` for what keeps it from measuring."""
    if html is not None:
        check_page(Path(html))
    with tempfile.TemporaryDirectory(prefix="kruntimes-bench-") as folder:
        try:
            results = asyncio.run(_measured(settings_of(options), Path(folder)))
        except SchedulerEndedError as error:
            print_notes(f"  {line}" for line in error.lines)
            raise
        except asyncio.CancelledError:
            return Exit.INTERRUPTED
    if form == "json":
        write_json(results.document(window))
    else:
        screen = standard_output()
        print_lines(report(results, window, screen), screen)
    if html is not None:
        write_page(Path(html), results)
    return Exit.DONE if results.passed else Exit.ANSWER_IS_NO


def settings_of(options: Mapping[str, Any]) -> BenchSettings:
    """What is asked for; an option that was not given has the default of the load."""
    external = options["no_scheduler"] or options["pid"] is not None
    asked = {**options, "mode": Mode(options["mode"]), "external": external}
    return _made_of(BenchSettings, {**asked, "load": _made_of(BenchLoad, asked)})


def _made_of(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass of those of its fields that are given."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: values[name] for name in names if values.get(name) is not None})


async def _measured(settings: BenchSettings, folder: Path) -> Results:
    """Measure until the end or a signal, which lets it clean up; a second one ends it at once."""
    log = Log(sys.stderr, SystemClock(), Level.WARNING)
    work = asyncio.create_task(measure(settings, folder, print_note, log), name="bench")

    def stop(number: signal.Signals) -> None:
        print_note(f"{number.name}: cleaning up")
        work.cancel()

    stop_on_signals(stop, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return await work


# The tables


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
    "lateSeconds": ("the bench saw events late by", _milliseconds),
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


# The picture: one HTML file that needs no other, in the light and in the dark

WIDTH, HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 30
_TICKS = 5
_NICE = (1, 2, 2.5, 5, 10)
_MOST_PIECES, _SHORTEST_SECONDS = 60, 0.1
"""How many pieces of time a chart shows at most, and how long one is at least."""
Points = Sequence[tuple[float, float]]
"""Seconds, and the value from there on."""


def check_page(path: Path) -> None:
    """Raises `InputError` if the file cannot be written, as far as that is known before."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"--html {path}: cannot be written: name a file in a folder that exists")


def write_page(path: Path, results: Results) -> None:
    """Write the picture. Raises `InputError` if the file cannot be written."""
    try:
        path.write_text(page(results), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--html {path}: cannot be written: {error.strerror}: name another file") from error


def page(results: Results) -> str:
    """The whole file."""
    # Only where a page is made: its import takes as long as all else that a bench imports of its own.
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("kruntimes_core.cli.bench", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    command = " ".join(results.command) if results.command is not None else "one that ran already"
    return environment.get_template("page.html.jinja").render(
        results=results,
        described=described(results.load),
        no_real_server=NO_REAL_SERVER,
        verdict=verdict(results),
        rows=figures(results),
        command=command,
        processors=counted(results.processors, "processor"),
        version=__version__,
        rounds=[(one.number, *_charts(one)) for one in results.rounds],
    )


def _charts(one: RoundResult) -> Iterator[dict[str, Any]]:
    """The rate and the latency over time."""
    pieces = one.windows(max(one.seconds / _MOST_PIECES, _SHORTEST_SECONDS))
    rates = [(piece.start, piece.rate) for piece in pieces if piece.rate is not None]
    ceiling = one.figures["ceilingPerSecond"]
    yield _chart(one.seconds, {"rate": rates}, lambda value: f"{value:g}", ceiling)
    known = [(piece.start, piece.latency) for piece in pieces if piece.latency is not None]
    waits = {
        "p50": [(at, latency.p50) for at, latency in known],
        "p99": [(at, latency.p99) for at, latency in known],
    }
    if max((latency.p99 for _, latency in known), default=0.0) < 1:
        yield _chart(one.seconds, waits, lambda value: f"{value * 1_000:g} ms")
    else:
        yield _chart(one.seconds, waits, lambda value: f"{value:g} s")


def _chart(
    seconds: float, series: Mapping[str, Points], shown: Callable[[float], str], level: float | None = None
) -> dict[str, Any]:
    """Lines over time, as the template draws them.

    series: points by their class in the style sheet. shown: writes a value at the axis. level: a value
    that is drawn across.
    """
    values = [value for points in series.values() for _, value in points]
    highest = _ceiling(max([*values, level or 0.0]) or 1.0)
    seconds = max(seconds, 1e-6)

    def x(at: float) -> float:
        return round(_LEFT + at / seconds * (WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / highest * (HEIGHT - _TOP - _BOTTOM), 1)

    def steps(points: Points) -> str:
        """A line in steps: what was measured of a piece of time holds for all of it."""
        path = [f"M{x(points[0][0])} {y(points[0][1])}"]
        path += [f"H{x(at)}V{y(value)}" for at, value in points[1:]]
        return f"{''.join(path)}H{x(seconds)}"

    return {
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "bottom": HEIGHT - _BOTTOM,
        "values": [(y(value), shown(value)) for value in _ticks(highest)],
        "times": [(x(at), f"{at:g} s") for at in _ticks(seconds)],
        "paths": [(style, steps(points)) for style, points in series.items() if points],
        "level": y(level) if level is not None else None,
    }


def _ticks(highest: float) -> list[float]:
    step = _ceiling(highest / _TICKS)
    return [round(step * number, 9) for number in range(floor(highest / step + 1e-9) + 1)]


def _ceiling(value: float) -> float:
    """The next round number that is not smaller."""
    power = 10.0 ** floor(log10(value))
    return next(nice for nice in _NICE if nice * power >= value * (1 - 1e-9)) * power
