"""Charts as SVG text: time to the right, one or more series upwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 30
_TICKS = 5
_NICE = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart. style: its class in the style sheet."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]
    """Seconds, and the value from there on."""


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn. Times in seconds from 0 to `seconds`."""

    title: str
    seconds: float
    series: Sequence[Series]
    shown: Callable[[float], str]
    """Writes a value at the axis."""
    level: tuple[str, float] | None = None
    """A value that is drawn across, with its name."""


def svg(chart: Chart) -> str:
    """The chart; colours come from the style sheet of the page."""
    highest = max([value for one in chart.series for _, value in one.points] + _level(chart), default=0.0)
    scale = _Scale(max(chart.seconds, 1e-6), _ceiling(highest or 1.0))
    parts = [*_axes(chart, scale), *(_line(one, scale) for one in chart.series)]
    if chart.level is not None:
        name, value = chart.level
        y = scale.y(value)
        parts.append(f'<line class="level" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="level" x="{WIDTH - _RIGHT}" y="{y - 4:.1f}">{escape(name)}</text>')
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">'
    return "\n".join([head, *parts, "</svg>"])


@dataclass(frozen=True, slots=True)
class _Scale:
    seconds: float
    highest: float

    def x(self, seconds: float) -> float:
        return round(_LEFT + seconds / self.seconds * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / self.highest * (HEIGHT - _TOP - _BOTTOM), 1)


def _level(chart: Chart) -> list[float]:
    return [chart.level[1]] if chart.level is not None else []


def _line(series: Series, scale: _Scale) -> str:
    """A line in steps: what was measured of a piece of time holds for all of it."""
    if not series.points:
        return ""
    path = [f"M{scale.x(series.points[0][0])} {scale.y(series.points[0][1])}"]
    path += [f"H{scale.x(at)}V{scale.y(value)}" for at, value in series.points[1:]]
    return f'<path class="{series.style}" d="{"".join(path)}H{scale.x(scale.seconds)}"/>'


def _axes(chart: Chart, scale: _Scale) -> Iterator[str]:
    bottom = HEIGHT - _BOTTOM
    for value in _ticks(scale.highest):
        y = scale.y(value)
        yield f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text class="value" x="{_LEFT - 8}" y="{y + 4:.1f}">{escape(chart.shown(value))}</text>'
    for seconds in _ticks(scale.seconds):
        yield f'<text class="time" x="{scale.x(seconds)}" y="{bottom + 18}">{seconds:g} s</text>'


def _ticks(highest: float) -> list[float]:
    step = _ceiling(highest / _TICKS)
    return [round(step * number, 9) for number in range(floor(highest / step + 1e-9) + 1)]


def _ceiling(value: float) -> float:
    """The next round number that is not smaller."""
    power = 10.0 ** floor(log10(value))
    return next(nice for nice in _NICE if nice * power >= value * (1 - 1e-9)) * power


def bins(seconds: float, most: int = 60, shortest: float = 0.1) -> float:
    """How long a piece of time is that a chart shows as one: at most so many, none shorter than that."""
    return max(seconds / most, shortest)
