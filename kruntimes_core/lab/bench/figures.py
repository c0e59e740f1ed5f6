"""Figures out of many measurements: percentiles, windows, and the spread over repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any, NamedTuple

MICROSECONDS, MILLISECONDS, BYTES, MEGABYTES = "microseconds", "milliseconds", "bytes", "megabytes"
NANOSECONDS = {MICROSECONDS: 1_000, MILLISECONDS: 1_000_000}
_INEXACT = 1e-9
_SHORTEST_SECONDS = 0.1
"""In less, a server answers one handful of requests: how close together says nothing of how many it takes."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Several measurements of one thing."""

    median: float
    lowest: float
    highest: float


def rounded(value: Any, digits: int) -> Any:
    """A document in which no number has more digits behind the point."""
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one, digits) for one in value]
    return round(value, digits) if isinstance(value, float) else value


def spread(values: Iterable[float | None]) -> Spread | None:
    """The spread of those that are known; None for none."""
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known)) if known else None


# Figures of an engine


class Quantity(NamedTuple):
    """What is measured, and in which unit."""

    name: str
    unit: str


Sample = Mapping[Quantity, float]
"""What one repeat measured."""
Figures = Mapping[Quantity, Spread]
"""What all repeats measured."""


def figures_of(samples: Iterable[Sample]) -> dict[Quantity, Spread]:
    """The spread of each quantity, in the order in which the quantities first came."""
    values: dict[Quantity, list[float]] = {}
    for sample in samples:
        for quantity, value in sample.items():
            values.setdefault(quantity, []).append(value)
    return {quantity: Spread(median(seen), min(seen), max(seen)) for quantity, seen in values.items()}


# Figures of a scheduler on an API server


@dataclass(frozen=True, slots=True)
class Latency:
    """How long Runs waited, in seconds. Each figure was measured of some Run: nothing is interpolated."""

    p50: float
    p95: float
    p99: float
    highest: float


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a round. Times in seconds from its beginning; the last window may be shorter."""

    start: float
    end: float
    created: int
    placed: int
    latency: Latency | None
    """Of the Runs that were placed in it; None without any."""

    @property
    def rate(self) -> float | None:
        """Placements a second; None if it is too short."""
        return rate(self.placed, self.end - self.start)


def rate(number: int, seconds: float) -> float | None:
    """How many a second; None for a time that is too short to tell."""
    return number / seconds if seconds > _SHORTEST_SECONDS - _INEXACT else None


def latency(seconds: Iterable[float]) -> Latency | None:
    """Percentiles by nearest rank; None without any value."""
    ordered = sorted(seconds)
    if not ordered:
        return None
    p50, p95, p99 = (ordered[max(ceil(len(ordered) * percent / 100), 1) - 1] for percent in (50, 95, 99))
    return Latency(p50, p95, p99, ordered[-1])


def windows(
    created: Sequence[float], placed: Sequence[tuple[float, float]], end: float, length: float
) -> list[Window]:
    """Cut a round into windows of `length` seconds.

    created: moments. placed: moments, each with how long that Run had waited. end: of the round. All in
    seconds from its beginning; what was before it, as the Runs that waited already, is in no window.
    """
    # A round that is cut evenly has no further window because its length cannot be divided exactly.
    number = max(ceil(end / length - _INEXACT), 1)
    found = []
    for place in range(number):
        start, stop = place * length, (place + 1) * length
        if place == number - 1:
            # What comes last is in the last one. A round without any length still has a window.
            stop = end if end > start else stop
            until = float("inf")
        else:
            until = stop
        waits = [waited for at, waited in placed if start <= at < until]
        news = sum(start <= at < until for at in created)
        found.append(Window(start, stop, news, len(waits), latency(waits)))
    return found
