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

from performance.page import table, write

COMMAND = "kruntimes bench engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: what it is, what it may be at most, and where it stands in the report of which command."""

    about: str
    at_most: str
    arguments: str
    workload: str
    figure: str
    unit: str
    share_of: int = 1
    """Among so many Pods it is shared, to be told for each of them."""

    @property
    def command(self) -> str:
        """What a reader types."""
        return f"{COMMAND} --workload {self.workload} {self.arguments}".rstrip()

    def read(self, document: Mapping[str, Any]) -> tuple[float, float, float]:
        """The figure in the report of the command: median, lowest, highest."""
        (workload,) = document["workloads"]
        (found,) = (one for one in workload["figures"] if one["name"] == self.figure)
        return tuple(found[key] / self.share_of for key in ("median", "lowest", "highest"))

    def cells(self, figures: tuple[float, float, float]) -> Iterable[str]:
        """The row of the page."""
        median, lowest, highest = (_shown(value) for value in figures)
        return (
            self.about,
            f"{median} {self.unit}",
            f"{lowest} to {highest}",
            self.at_most,
            f"`{self.command}`",
        )


def _decision(about: str, at_most: str, workload: str, arguments: str, share_of: int = 1) -> Row:
    return Row(
        about=about,
        at_most=at_most,
        arguments=arguments,
        workload=workload,
        figure="decide",
        unit="µs",
        share_of=share_of,
    )


_LARGE = "--pods 5000 --known 90000 --waiting 10000"
HEADINGS = ("figure", "median", "spread", "at most", "command")
ROWS = (
    _decision("a decision, 1,000 Pods", "100 µs", "placements", "--waiting 0"),
    _decision("a decision, 5,000 Pods", "200 µs", "placements", "--waiting 0 --pods 5000 --known 25000"),
    _decision("the first, beside 90,000 Runs more", "1.2 times", "placements", "--waiting 0 --known 100000"),
    _decision("the same, 10,000 of them waiting", "1.2 times", "placements", "--waiting 10000 --known 90000"),
    _decision("with required affinity among 50 cohorts, 1,000 Pods", "100 µs", "affinity", "--waiting 0"),
    _decision("the same, 5,000 Pods", "200 µs", "affinity", "--waiting 0 --pods 5000 --known 25000"),
    _decision(
        "of 50 namespaces and Runtimes with 20 Pods each",
        "1.2 times",
        "placements",
        "--waiting 0 --namespaces 50 --runtimes 50",
    ),
    _decision("two scorers tell the Pods apart, for each Pod", "2 µs", "preferences", "--waiting 0", 1_000),
    _decision(
        "a request that is new, for each Pod: a filter and a score",
        "0.5 + 2 µs",
        "new-states",
        "--waiting 0",
        1_000,
    ),
    Row(
        about="a heartbeat that changes nothing",
        at_most="15 µs",
        arguments="",
        workload="heartbeats",
        figure="whole",
        unit="µs",
    ),
    _decision(
        "a freed slot beside 10,000 that wait for one", "", "freed-slot", "--waiting 10000 --requests 1"
    ),
    Row(
        about="10,000 Runs and 1,000 Pods are listed and all is decided",
        at_most="5,000 ms",
        arguments="",
        workload="restart",
        figure="whole",
        unit="ms",
    ),
    Row(
        about="the longest pause of the collector, 100,000 Runs known",
        at_most="20 ms",
        arguments=_LARGE,
        workload="pauses",
        figure="longest while placing",
        unit="ms",
    ),
    Row(
        about="memory, 100,000 Runs and 5,000 Pods known",
        at_most="250 MB",
        arguments=_LARGE,
        workload="memory",
        figure="in all",
        unit="MB",
    ),
    Row(
        about="of which a Run",
        at_most="",
        arguments=_LARGE,
        workload="memory",
        figure="a Run",
        unit="bytes",
    ),
)


def measure() -> None:
    """Run each command, and write the table into the page."""
    write("the engine", table(HEADINGS, (row.cells(row.read(measured(row.command))) for row in ROWS)))


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
