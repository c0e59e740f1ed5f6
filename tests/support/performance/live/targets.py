"""The targets: figures, and ratios of two that were measured one after the other in the same round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from performance.live.results import Results, figure
from performance.live.workloads import named
from performance.page import table
from performance.shown import Shown, ends, middle, milliseconds, percent, ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One figure of a workload, or how many times that of another workload it is."""

    about: str
    workload: str
    key: str
    base: str | None = None
    """The workload that it is divided by."""
    at_least: float | None = None
    at_most: float | None = None
    shown: Shown = ratio
    unit: str = ""

    def values(self, results: Results) -> list[float]:
        """In each round; of a ratio in those in which both were measured."""
        read, rounds = figure(self.key), results.rounds(named(self.workload))
        if self.base is None:
            return [read(document) for document in rounds.values()]
        bases = results.rounds(named(self.base))
        return [read(rounds[number]) / read(bases[number]) for number in rounds if number in bases]

    def reached(self, values: Sequence[float]) -> bool:
        """Whether the median is within the bounds."""
        lowest, highest = self.at_least, self.at_most
        found = median(values)
        return (lowest is None or found >= lowest) and (highest is None or found <= highest)

    @property
    def bounds(self) -> str:
        """What it is to be, in words."""
        lowest, highest = (
            None if bound is None else self._with_unit(bound) for bound in (self.at_least, self.at_most)
        )
        if lowest is None:
            return f"at most {highest}"
        return f"at least {lowest}" if highest is None else f"{lowest} to {highest}"

    def cells(self, results: Results) -> tuple[str, ...]:
        """The row of the page."""
        values = self.values(results)
        verdict = "" if not values else "yes" if self.reached(values) else "no"
        found = middle(values, self._with_unit)
        return self.about, found, ends(values, self.shown), self.bounds, verdict

    def _with_unit(self, value: float) -> str:
        return f"{self.shown(value)} {self.unit}".rstrip()


def _ratio(
    about: str, workload: str, key: str, base: str, at_most: float | None = 1.2, at_least: float | None = None
) -> Target:
    return Target(about=about, workload=workload, key=key, base=base, at_most=at_most, at_least=at_least)


def _share(about: str, workload: str) -> Target:
    return Target(about=about, workload=workload, key="shareOfCeiling", at_least=0.85, shown=percent)


def _milliseconds(about: str, workload: str, key: str, at_most: float) -> Target:
    return Target(about=about, workload=workload, key=key, at_most=at_most, shown=milliseconds, unit="ms")


_BESIDE = {
    "open-hopeless-500": "beside 500 hopeless Runs",
    "open-hopeless-2000": "beside 2,000 hopeless Runs",
    "open-elsewhere": "beside 5,000 Runs that wait for other room",
    "open-heartbeats": "with heartbeats of 100 Pods",
    "open-many": "in 50 namespaces, of 50 Runtimes",
}
_PROCESSOR = "processorSecondsPerRun"
TARGETS = (
    _share("share of the ceiling, 1,000 Runs wait", "drain-1000"),
    _share("share of the ceiling, 5,000 Runs wait", "drain-5000"),
    _ratio(
        "rate with 5,000 Runs, divided by that with 1,000", "drain-5000", "perSecond", "drain-1000", 1.1, 0.9
    ),
    _milliseconds("p50 at 40 Runs a second", "open", "p50Seconds", 0.025),
    _milliseconds("p99 at 40 Runs a second", "open", "p99Seconds", 0.100),
    *(
        _ratio(f"{key[:3]} {beside}, divided by that without", workload, key, "open")
        for workload, beside in _BESIDE.items()
        for key in ("p50Seconds", "p99Seconds")
    ),
    _milliseconds("processor time of a placement, 1,000 Runs wait", "drain-1000", _PROCESSOR, 0.0015),
    _milliseconds("processor time of a placement, 5,000 Runs wait", "drain-5000", _PROCESSOR, 0.0015),
    _milliseconds("processor time of a Run to its end, 40 Runs a second", "open", _PROCESSOR, 0.0015),
    _ratio(
        "share of the ceiling in 50 namespaces, of 50 Runtimes, divided by that in one",
        "drain-many",
        "shareOfCeiling",
        "drain-1000",
        at_most=None,
        at_least=0.8,
    ),
    _ratio(
        "processor time of a placement there, divided by that in one", "drain-many", _PROCESSOR, "drain-1000"
    ),
    _milliseconds("the first placement, 10,000 Runs and 1,000 Pods to list", "start", "firstSeconds", 5.0),
)
HEADINGS = ("figure", "median", "spread", "target", "reached")


def targets(results: Results) -> list[str]:
    """The table of all that was measured."""
    rows = (target.cells(results) for target in TARGETS if target.values(results))
    return table(HEADINGS, rows)
