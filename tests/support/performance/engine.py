"""The table of what the engine costs by itself."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from performance.page import ENGINE, table, write

COMMAND = "kruntimes bench engine"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure in the report of a workload."""

    workload: str
    figure: str = "decide"
    unit: str = "µs"
    share_of: int = 1
    """Among so many Pods it is shared, to be told for each of them."""

    def read(self, document: Mapping[str, Any]) -> tuple[float, float, float]:
        """What the report of the command says: median, lowest, highest."""
        (workload,) = document["workloads"]
        (found,) = (one for one in workload["figures"] if one["name"] == self.figure)
        return tuple(found[key] / self.share_of for key in ("median", "lowest", "highest"))

    def shown(self, figures: tuple[float, float, float]) -> tuple[str, str]:
        """The median with its unit, and the spread."""
        median, lowest, highest = map(_shown, figures)
        return f"{median} {self.unit}", f"{lowest} to {highest}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the page: what it is about, what it may be at most, and how it is measured."""

    about: str
    at_most: str
    measure: Measure
    arguments: str = ""

    @property
    def command(self) -> str:
        """What a reader types."""
        return f"{COMMAND} --workload {self.measure.workload} {self.arguments}".rstrip()

    def cells(self, document: Mapping[str, Any]) -> Iterable[str]:
        """The row of the page, by the report of its command."""
        figures = self.measure.shown(self.measure.read(document))
        return (self.about, *figures, self.at_most, f"`{self.command}`")


_PLACEMENTS = Measure("placements")
_AFFINITY = Measure("affinity")
_FREED_SLOT = Measure("freed-slot")
_PREFERENCES_A_POD = Measure("preferences", share_of=1_000)
_NEW_STATE_A_POD = Measure("new-states", share_of=1_000)
_HEARTBEAT = Measure("heartbeats", "whole")
_RESTART = Measure("restart", "whole", "ms")
_PAUSE = Measure("pauses", "longest while placing", "ms")
_MEMORY = Measure("memory", "in all", "MB")
_MEMORY_OF_A_RUN = Measure("memory", "a Run", "bytes")

_ALONE = "--waiting 0"
_OF_ONE_REQUEST = "--waiting 0 --requests 1"
_MORE_PODS = "--waiting 0 --pods 5000 --known 25000"
_LARGE = "--pods 5000 --known 90000 --waiting 10000"
HEADINGS = ("figure", "median", "spread", "at most", "command")
ROWS = (
    Row("a decision, 1,000 Pods", "100 µs", _PLACEMENTS, _ALONE),
    Row("a decision, 5,000 Pods", "200 µs", _PLACEMENTS, _MORE_PODS),
    Row(
        "a decision, 1,000 Pods, 90,000 more Runs known",
        "1.2 times",
        _PLACEMENTS,
        "--waiting 0 --known 100000",
    ),
    Row("the same, 10,000 of these Runs waiting", "1.2 times", _PLACEMENTS, "--waiting 10000 --known 90000"),
    Row("a decision with required affinity, 50 cohorts, 1,000 Pods", "130 µs", _AFFINITY, _OF_ONE_REQUEST),
    Row("the same, Runs with 20 different requests", "130 µs", _AFFINITY, _ALONE),
    Row("the same, 5,000 Pods", "200 µs", _AFFINITY, _MORE_PODS),
    Row(
        "a decision, 50 namespaces and Runtimes with 20 Pods each",
        "1.2 times",
        _PLACEMENTS,
        "--waiting 0 --namespaces 50 --runtimes 50",
    ),
    Row("a decision where two scorers tell the Pods apart, for each Pod", "2 µs", _PREFERENCES_A_POD, _ALONE),
    Row(
        "a decision for a new request, for each Pod: a filter and a score",
        "0.5 + 2 µs",
        _NEW_STATE_A_POD,
        _ALONE,
    ),
    Row("a heartbeat that changes nothing", "15 µs", _HEARTBEAT),
    Row("a freed slot, 10,000 Runs wait for one", "", _FREED_SLOT, "--waiting 10000 --requests 1"),
    Row("10,000 Runs and 1,000 Pods are listed, and all Runs decided", "5,000 ms", _RESTART),
    Row("the longest pause of the garbage collector, 100,000 Runs known", "20 ms", _PAUSE, _LARGE),
    Row("memory, 100,000 Runs and 5,000 Pods known", "250 MB", _MEMORY, _LARGE),
    Row("of which each Run", "", _MEMORY_OF_A_RUN, _LARGE),
)


def measure() -> None:
    """Run each command, and write the table into the page."""
    write("the engine", table(HEADINGS, (row.cells(measured(row.command)) for row in ROWS)), ENGINE)


@cache
def measured(command: str) -> dict[str, Any]:
    """The report of a command; each is run once."""
    print(command, file=sys.stderr)  # noqa: T201 - this takes minutes
    arguments = [*shlex.split(command)[1:], "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments], stdout=subprocess.PIPE, check=True
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"
