"""Figures: one quantity, measured several times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

MICROSECONDS, MILLISECONDS, BYTES, MEGABYTES = "microseconds", "milliseconds", "bytes", "megabytes"
NANOSECONDS = {MICROSECONDS: 1_000, MILLISECONDS: 1_000_000}


class Quantity(NamedTuple):
    """What is measured, and in which unit."""

    name: str
    unit: str


Sample = Mapping[Quantity, float]
"""What one repeat measured."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity over all repeats."""

    quantity: Quantity
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The value in the middle."""
        return median(self.values)

    def document(self) -> dict[str, Any]:
        """The figure as the report says it: the median, and the spread."""
        return {
            "name": self.quantity.name,
            "unit": self.quantity.unit,
            "median": round(self.median, 3),
            "lowest": round(min(self.values), 3),
            "highest": round(max(self.values), 3),
        }


def figures_of(samples: Iterable[Sample]) -> tuple[Figure, ...]:
    """One figure for each quantity, in the order in which the quantities first came."""
    values: dict[Quantity, list[float]] = {}
    for sample in samples:
        for quantity, value in sample.items():
            values.setdefault(quantity, []).append(value)
    return tuple(Figure(quantity, tuple(seen)) for quantity, seen in values.items())
