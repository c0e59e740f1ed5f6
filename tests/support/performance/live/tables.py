"""The tables of the page: which command is which workload, what came out, and where it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from performance.live.results import Document, Results, figure
from performance.live.workloads import WORKLOADS, Workload, named
from performance.page import table
from performance.shown import UNKNOWN, Shown, megabytes, milliseconds, number, percent, spread

Read = Callable[[Document], float]
_SHARE, _OPEN = "shareOfCeiling", "open"
COLUMNS: tuple[tuple[str, str, Shown], ...] = (
    ("placed a second", "perSecond", number),
    ("share of the ceiling", _SHARE, percent),
    ("p50, ms", "p50Seconds", milliseconds),
    ("p95, ms", "p95Seconds", milliseconds),
    ("p99, ms", "p99Seconds", milliseconds),
    ("writes a Run", "writesPerRun", number),
    ("processor a Run, ms", "processorSecondsPerRun", milliseconds),
    ("resident, MB", "residentBytes", megabytes),
)
"""Heading, key in the report, and how it is written."""


def commands() -> list[str]:
    """Name, load and command of each workload."""
    rows = ((f"`{one.name}`", one.about, f"`{one.command}`") for one in WORKLOADS)
    return table(("name", "load", "command"), rows)


def figures(results: Results) -> list[str]:
    """A row for each workload that was measured."""
    headings = ("workload", *(heading for heading, _, _ in COLUMNS))
    return table(headings, (_row(workload, results) for workload in WORKLOADS if results.rounds(workload)))


def where(results: Results) -> str:
    """A sentence on when it was measured, and on what."""
    found = [document for one in WORKLOADS for document in results.rounds(one).values()]
    if not found:
        return "Nothing was measured yet."
    days = _listed(document["startedAt"].partition("T")[0] for document in found)
    versions = _listed(document["server"]["version"] for document in found)
    processors = _listed(str(document["machine"]["processors"]) for document in found)
    most = max(len(results.rounds(one)) for one in WORKLOADS)
    return (
        f"Measured on {days} with kube-apiserver {versions}, everything on one machine of {processors}"
        f" processors, in {most} round{'s' if most > 1 else ''}{_fewer(results, most)}."
    )


def further_namespaces(results: Results) -> str:
    """A sentence on the memory of watches, by the two loads that differ in them."""
    many, one = (results.rounds(named(name)).values() for name in ("drain-many", "drain-1000"))
    if not many or not one:
        return "What the watches of a further namespace take was not measured."
    namespaces = next(iter(many))["load"]["namespaces"]
    taken = [median(map(figure("residentBytes"), documents)) for documents in (many, one)]
    each = (taken[0] - taken[1]) / (namespaces - 1)
    return (
        f"Each further namespace of `--namespaces` takes {number(each / 1_000_000)} MB, for"
        " three watches of its own."
    )


def _fewer(results: Results, most: int) -> str:
    """Which workloads were measured in fewer rounds than others, and in how many."""
    names: dict[int, list[str]] = {}
    for one in WORKLOADS:
        names.setdefault(len(results.rounds(one)), []).append(f"`{one.name}`")
    counts = sorted((count for count in names if 0 < count < most), reverse=True)
    fewer = "; ".join(f"{', '.join(names[count])} in {count}" for count in counts)
    return f" ({fewer})" if fewer else ""


def _row(workload: Workload, results: Results) -> Iterable[str]:
    documents = list(results.rounds(workload).values())
    yield f"`{workload.name}`"
    for _, key, shown in COLUMNS:
        if key == _SHARE and documents[0]["load"]["mode"] == _OPEN:
            # The load decides on the rate, and not the scheduler.
            yield UNKNOWN
        else:
            yield spread([figure(key)(document) for document in documents], shown)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(set(texts)))
