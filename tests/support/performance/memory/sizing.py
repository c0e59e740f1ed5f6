"""From a few sizes to a formula, and what it says of one that is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

from performance.memory.known import Known
from performance.page import SIZING, table, write
from performance.shown import megabytes, number

SECTION = "memory"
HEADINGS = (
    "known",
    "Pods",
    "active Runs",
    "waiting Runs",
    "ended Runs",
    "measured, MB",
    "by the formula, MB",
)
NOTHING, PODS = Known(), Known(pods=5_000)
STEPS: Mapping[str, Known] = {
    "pods": PODS,
    "active": Known(pods=5_000, active=20_000),
    "waiting": Known(pods=5_000, waiting=10_000),
    "ended": Known(pods=5_000, ended=70_000),
}
"""What tells how much one of each takes."""
MOST_BYTES = 250_000_000
"""What `ALL` may take."""
ALL = Known(pods=5_000, active=20_000, waiting=10_000, ended=70_000)


@dataclass(frozen=True, slots=True)
class Formula:
    """Bytes of a scheduler that knows nothing, and for each of what it knows."""

    base: float
    pods: float
    active: float
    waiting: float
    ended: float

    def of(self, known: Known) -> float:
        """Bytes resident."""
        runs = self.active * known.active + self.waiting * known.waiting + self.ended * known.ended
        return self.base + self.pods * known.pods + runs

    @property
    def text(self) -> str:
        """As people read it."""
        each = ", ".join(
            f"{number(getattr(self, key) / 1_000)} kB for each {name}"
            for key, name in (
                ("pods", "Pod"),
                ("active", "Run on a Pod"),
                ("waiting", "Run that waits"),
                ("ended", "Run that has ended"),
            )
        )
        return f"**{megabytes(self.base)} MB, and {each}**"


def formula(taken: Callable[[Known], float]) -> Formula:
    """The formula of what was measured. taken: the bytes of a size; asked for those of the steps."""
    base, with_pods = taken(NOTHING), taken(PODS)
    each = {
        name: (taken(known) - with_pods) / getattr(known, name)
        for name, known in STEPS.items()
        if name != "pods"
    }
    return Formula(base, (with_pods - base) / PODS.pods, **each)


def sizing(taken: Callable[[Known], float]) -> list[str]:
    """The formula, and a table of it beside what was measured."""
    found = formula(taken)
    sizes = {"nothing": NOTHING, **STEPS, "all of it": ALL}
    rows = (_row(name, known, taken, found) for name, known in sizes.items())
    return [
        found.text,
        "",
        *table(HEADINGS, rows),
        "",
        f"All of it, {ALL.runs:,} Runs and {ALL.pods:,} Pods, takes {megabytes(taken(ALL))} MB; the target"
        f" is at most {megabytes(MOST_BYTES)} MB.",
    ]


def measure(resident_bytes: Callable[[Known], int]) -> None:
    """Measure each size once, and write the page: memory hardly differs from one time to the next."""
    measured = {known: resident_bytes(known) for known in (NOTHING, *STEPS.values(), ALL)}
    write(SECTION, sizing(measured.__getitem__), SIZING)


def _row(name: str, known: Known, taken: Callable[[Known], float], found: Formula) -> Iterable[str]:
    yield name
    yield from (f"{getattr(known, one.name):,}" for one in fields(Known))
    yield megabytes(taken(known))
    yield megabytes(found.of(known))
