"""How cost grows with the cluster: a power of its size, fitted over several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

from kruntimes_core.lab.bench.engine.figures import MICROSECONDS, NANOSECONDS, Figure, Quantity
from kruntimes_core.lab.bench.engine.hooks import HookCost, HookName

_SMALLEST_LARGEST = 8


def sizes_up_to(largest: int) -> tuple[int, ...]:
    """Four sizes, each twice the one before. Where `largest` has no room for them, up to 8."""
    largest = max(largest, _SMALLEST_LARGEST)
    return tuple(largest // part for part in (8, 4, 2, 1))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that a value grows with: the slope of log(1 + value) over log(size).

    By least squares. 0: it does not grow; 1: it doubles with the size. The 1 lets values be 0, and
    hardly matters beside nanoseconds or many calls. In: positive sizes, not all the same.
    """
    places = [log(size) for size in sizes]
    heights = [log1p(value) for value in values]
    middle, level = sum(places) / len(places), sum(heights) / len(heights)
    slope = sum((x - middle) * (y - level) for x, y in zip(places, heights, strict=True))
    return slope / sum((x - middle) ** 2 for x in places)


@dataclass(frozen=True, slots=True)
class GrownFigure:
    """A figure at each size, and the power of its growth."""

    quantity: Quantity
    values: tuple[float, ...]
    exponent: float

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            "name": self.quantity.name,
            "unit": self.quantity.unit,
            "medians": [round(value, 3) for value in self.values],
            "exponent": round(self.exponent, 3),
        }


@dataclass(frozen=True, slots=True)
class GrownHook:
    """Calls and time of one hook at each size, and the powers of their growth."""

    name: HookName
    calls: tuple[float, ...]
    calls_exponent: float
    microseconds: tuple[float, ...]
    exponent: float

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            **self.name._asdict(),
            "calls": [round(value, 3) for value in self.calls],
            "callsExponent": round(self.calls_exponent, 3),
            "microseconds": [round(value, 3) for value in self.microseconds],
            "exponent": round(self.exponent, 3),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How one workload grows with one dimension of the cluster."""

    workload: str
    dimension: str
    sizes: tuple[int, ...]
    figures: tuple[GrownFigure, ...]
    hooks: tuple[GrownHook, ...]

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            "workload": self.workload,
            "with": self.dimension,
            "sizes": list(self.sizes),
            "figures": [figure.document() for figure in self.figures],
            "hooks": [hook.document() for hook in self.hooks],
        }


def grown_figures(sizes: Sequence[int], found: Sequence[Sequence[Figure]]) -> tuple[GrownFigure, ...]:
    """Each quantity over the sizes; found: the figures at each. A part with nothing to do took no time."""
    medians = [{figure.quantity: figure.median for figure in figures} for figures in found]
    return tuple(
        _grown_figure(sizes, quantity, tuple(one.get(quantity, 0.0) for one in medians))
        for quantity in dict.fromkeys(quantity for one in medians for quantity in one)
    )


def grown_hooks(sizes: Sequence[int], found: Sequence[Sequence[HookCost]]) -> tuple[GrownHook, ...]:
    """Each hook over the sizes; found: the costs at each, of the same hooks in the same order."""
    return tuple(_grown_hook(sizes, costs) for costs in zip(*found, strict=True))


def _grown_figure(sizes: Sequence[int], quantity: Quantity, values: tuple[float, ...]) -> GrownFigure:
    return GrownFigure(quantity, values, exponent(sizes, [v * NANOSECONDS[quantity.unit] for v in values]))


def _grown_hook(sizes: Sequence[int], costs: Sequence[HookCost]) -> GrownHook:
    calls = tuple(cost.calls for cost in costs)
    spent = tuple(cost.microseconds for cost in costs)
    return GrownHook(
        costs[0].name,
        calls,
        exponent(sizes, calls),
        spent,
        exponent(sizes, [value * NANOSECONDS[MICROSECONDS] for value in spent]),
    )
