"""How figures are written: a number with its unit, and several rounds as their median and spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

Shown = Callable[[float], str]
UNKNOWN = "-"


def milliseconds(seconds: float) -> str:
    """A short time; without a unit."""
    return number(seconds * 1_000)


def megabytes(size: float) -> str:
    """A size; without a unit."""
    return number(size / 1_000_000)


def percent(share: float) -> str:
    """A share of 1; with its sign."""
    return f"{share:.0%}"


def ratio(value: float) -> str:
    """One figure by another."""
    return f"{value:.2f}"


def number(value: float) -> str:
    """Any number, in two digits at least."""
    if value >= 20:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def middle(values: Sequence[float], shown: Shown) -> str:
    """The median."""
    return shown(median(values)) if values else UNKNOWN


def ends(values: Sequence[float], shown: Shown) -> str:
    """The lowest and the highest."""
    return f"{shown(min(values))} to {shown(max(values))}" if values else UNKNOWN


def spread(values: Sequence[float], shown: Shown) -> str:
    """All of it in one cell; what comes out alike is written once."""
    if len({shown(value) for value in values}) < 2:
        return middle(values, shown)
    return f"{middle(values, shown)} ({ends(values, shown)})"
