"""LeastLoaded: the Pod that will be least loaded with the Run on it is the best.

The rule is the API contract's: of the ratios (usage + request) / capacity over every advertised
resource, the highest decides, then their sum. All of it is exact: a tie is a tie in whatever order
the resources come, and so is decided by Pod name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, total_ordering
from typing import ClassVar, NamedTuple

from kruntimes_core import Capacity, FrozenMap, Request, RuntimePod, hookimpl

# Capacities count in units of 10^-9 up to 2^63, so a ratio's denominator stays below 2^93, and two
# different ratios are more than 2^-186 apart: as multiples of 2^-188, rounded, they still differ.
_BITS = 188
_HASHES = (1 << 61) - 1


@total_ordering
class Total:
    """A sum of ratios as one numerator and one denominator, not reduced: sums are compared seldom."""

    __slots__ = ("_hash", "denominator", "numerator")

    def __init__(self, numerator: int, denominator: int) -> None:
        self.numerator = numerator
        self.denominator = denominator
        # Hosts count raw scores. Rounding is the same for equal sums; reducing a fraction is slow.
        self._hash = (numerator << 32) // denominator % _HASHES

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Total):
            return NotImplemented
        return self.numerator * other.denominator == other.numerator * self.denominator

    def __lt__(self, other: Total) -> bool:
        return self.numerator * other.denominator < other.numerator * self.denominator

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Total({self.numerator}, {self.denominator})"


class Spare(NamedTuple):
    """A raw score: both parts are negative loads, so that more is better. Compares as a tuple."""

    highest: int
    """The highest ratio, in units of 2^-188; exact enough to tell any two ratios apart."""
    rounded: int
    """The sum of the ratios in the same units: most sums differ here already."""
    total: Total
    """The exact sum, for those that do not."""

    def __str__(self) -> str:
        """For the decision record; rounded, and never compared."""
        highest = -self.highest / (1 << _BITS)
        total = -self.total.numerator / self.total.denominator
        return f"highest load {highest:.4f}, sum {total:.4f}"


def spare(pod: RuntimePod, request: Request) -> Spare:
    """The raw score of `pod` with `request` added to what it holds."""
    return _spare(pod.capacity, pod.usage, request)


@lru_cache(maxsize=4096)
def _spare(capacity: Capacity, usage: FrozenMap[str, int], request: Request) -> Spare:
    """Remembered, because Pods of a Runtime are alike; and tuples compare identity first."""
    high, high_of = 0, 1
    total, total_of = 0, 1
    for resource, limit in capacity.items():
        load = usage.get(resource, 0) + request.get(resource, 0)
        if load <= 0:
            continue
        if type(limit) is not int:  # a Fraction; to ask for that takes ten times as long
            load, limit = load * limit.denominator, limit.numerator
        if load * high_of > high * limit:
            high, high_of = load, limit
        total, total_of = total * limit + load * total_of, total_of * limit
    highest, rounded = (high << _BITS) // high_of, (total << _BITS) // total_of
    return Spare(-highest, -rounded, Total(-total, total_of))


def by_place(scores: Sequence[Spare]) -> list[int]:
    """(n-1-s) * 100 // (n-1) for a group of equals that starts at place s of n; 100 for one alone."""
    last = len(scores) - 1
    if last < 1:
        return [100] * len(scores)
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    normalized = [0] * len(scores)
    start, leader = 0, scores[order[0]]
    for place, index in enumerate(order):
        if scores[index] != leader:
            start, leader = place, scores[index]
        normalized[index] = (last - start) * 100 // last
    return normalized


class LeastLoaded:
    """The scorer."""

    host_api: ClassVar[str] = ">=1,<2"
    # Every place but the first has s >= 1, and (n-1-s) * 100 // (n-1) is then 99 at most.
    normalize_keeps_best: ClassVar[bool] = True

    @hookimpl
    def prefilter(self, request: Request) -> Request:
        """The request itself is the state: Runs that ask for the same share all scores."""
        return request

    @hookimpl
    def score(self, pod: RuntimePod, state: Request) -> Spare:
        """The raw score, exactly ordered; more is better."""
        return spare(pod, state)

    @hookimpl
    def normalize(self, scores: Sequence[Spare]) -> list[int]:
        """0..100 by place among the feasible Pods."""
        return by_place(scores)
