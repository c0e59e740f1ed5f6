"""`python figures.py REPORT...` prints the figures of reports as the page of performance has them.

A report is a document of `kruntimes bench -o json` or `kruntimes bench engine -o json`. Reports of one load
in one call are rounds of it: their medians are one row, with the lowest and the highest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

Document = dict[str, Any]
Shown = Callable[[float], str]


def number(value: float) -> str:
    """Any number, in two digits at least."""
    if value >= 20:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


COLUMNS: tuple[tuple[str, str, Shown], ...] = (
    ("placed a second", "perSecond", number),
    ("share of the ceiling", "shareOfCeiling", lambda share: f"{share:.0%}"),
    ("p50, ms", "p50Seconds", lambda seconds: number(seconds * 1_000)),
    ("p95, ms", "p95Seconds", lambda seconds: number(seconds * 1_000)),
    ("p99, ms", "p99Seconds", lambda seconds: number(seconds * 1_000)),
    ("writes a Run", "writesPerRun", number),
    ("processor a Run, ms", "processorSecondsPerRun", lambda seconds: number(seconds * 1_000)),
    ("resident, MB", "residentBytes", lambda size: number(size / 1_000_000)),
)
"""Heading, key in the report, and how it is written."""


def rows(documents: Sequence[Document]) -> Iterator[str]:
    """The lines of the tables."""
    live = [one for one in documents if one["apiVersion"] == "kruntimes.io/bench/v1"]
    if live:
        yield _line(["load", *(heading for heading, _, _ in COLUMNS)])
    loads = {json.dumps(one["load"]): one["load"] for one in live}
    for load in loads.values():
        rounds = [one for document in live if document["load"] == load for one in document["rounds"]]
        asked = ", ".join(f"{key} {value}" for key, value in load.items() if value)
        yield _line([asked, *(_cell([one[key] for one in rounds], shown) for _, key, shown in COLUMNS)])
    for document in documents:
        for workload in document.get("workloads", ()):
            for figure in workload["figures"]:
                ends = f"{number(figure['lowest'])} to {number(figure['highest'])}"
                median_ = f"{number(figure['median'])} {figure['unit']}"
                yield _line([workload["name"], figure["name"], median_, ends])


def _cell(values: Sequence[float | None], shown: Shown) -> str:
    """The median, with the lowest and the highest where they are written otherwise."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    if len({shown(value) for value in known}) == 1:
        return shown(known[0])
    return f"{shown(median(known))} ({shown(min(known))} to {shown(max(known))})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in rows([json.loads(Path(name).read_text()) for name in sys.argv[1:]]):
        print(line)  # noqa: T201 - its answer
