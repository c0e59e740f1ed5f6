"""Exact ratios that compare quickly: for scores, which must never be decided by binary floating point."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Ratio(NamedTuple):
    """An exact ratio of two integers, ordered as numbers are; equal ratios are equal and hash alike.

    It compares as a tuple. The first part is an integer, which tells most ratios apart at once: to compare
    two fractions takes ten times as long, and a scorer compares thousands.
    """

    rounded: int
    """In units of 2^-64, rounded down."""
    exact: Fraction

    @classmethod
    def of(cls, numerator: int, denominator: int) -> Ratio:
        """Numerator / denominator; the denominator is positive."""
        return cls((numerator << 64) // denominator, Fraction(numerator, denominator))

    def __float__(self) -> float:
        """Rounded, to be shown."""
        return float(self.exact)

    def __hash__(self) -> int:
        """By the first part: to hash a fraction takes ten times as long."""
        return hash(self.rounded)
