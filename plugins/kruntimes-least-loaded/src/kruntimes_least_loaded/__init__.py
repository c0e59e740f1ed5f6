"""LeastLoaded: the Pod that will be least loaded with the Run on it is the best.

The rule is the API contract's: of the ratios (usage + request) / capacity over every advertised
resource, the highest decides, then their sum. All of it is exact: equal loads are equal in whatever
order the resources come, and the Pod's name then decides.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import ClassVar, NamedTuple

from kruntimes_core import Capacity, FrozenMap, Ratio, Request, RuntimePod, hookimpl


class Spare(NamedTuple):
    """A raw score: both parts are negative loads, so that more is better. Compares as a tuple."""

    highest: Ratio
    total: Ratio

    def __str__(self) -> str:
        """For the decision record; rounded, and never compared."""
        return f"highest load {-float(self.highest):.4f}, sum {-float(self.total):.4f}"


def spare(pod: RuntimePod, request: Request) -> Spare:
    """The raw score of `pod` with `request` added to what it holds."""
    return _spare(pod.capacity, pod.usage, request)


@lru_cache(maxsize=4096)
def _spare(capacity: Capacity, usage: FrozenMap[str, int], request: Request) -> Spare:
    """Remembered, because Pods of a Runtime are alike."""
    whole, units = _units(capacity)
    loads = [(usage.get(name, 0) + request.get(name, 0)) * unit for name, unit in units.items()]
    return Spare(Ratio.of(-max(loads, default=0), whole), Ratio.of(-sum(loads), whole))


@lru_cache(maxsize=4096)
def _units(capacity: Capacity) -> tuple[int, dict[str, int]]:
    """A measure that all of the capacity's ratios are whole numbers of.

    Returns: how much of it a full Pod is, and how much one of each resource is.
    """
    whole = lcm(*[Fraction(limit).numerator for limit in capacity.values()])
    return whole, {name: int(whole / Fraction(limit)) for name, limit in capacity.items()}


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
