"""The picture of a bench: one HTML file that needs no other, in the light and in the dark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, log10
from pathlib import Path
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.cli.bench.report import NO_REAL_SERVER, described, figures, verdict
from kruntimes_core.cli.output.text import printable
from kruntimes_core.lab.bench.live.results import Results, RoundResult
from kruntimes_core.model.messages import InputError, counted

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
        raise InputError(f"--html {path}: cannot be written: name a file in a folder that is there")


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
