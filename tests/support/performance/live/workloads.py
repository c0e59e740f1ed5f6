"""What is measured on a real API server, each by a name and a command that anybody can type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COMMAND = "kruntimes bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One load."""

    name: str
    about: str
    arguments: str
    most_rounds: int | None = None
    """For one that takes long, and whose figures are far from what they may be; None: all rounds."""

    @property
    def command(self) -> str:
        """What a reader types."""
        return f"{COMMAND} {self.arguments}"

    def rounds(self, asked: int) -> int:
        """How many rounds it takes part in."""
        return asked if self.most_rounds is None else min(asked, self.most_rounds)


_OPEN = "--mode open --rate 40 --seconds 20 --duration 500ms"


def _open(name: str, about: str, arguments: str = "") -> Workload:
    return Workload(name=name, about=about, arguments=f"{_OPEN} {arguments}".rstrip())


# Those that are compared stand beside each other: they are measured one after the other.
WORKLOADS = (
    Workload(name="burst-50", about="50 Runs at once, 2 Pods", arguments="--mode burst --runs 50 --pods 2"),
    Workload(
        name="burst-2000",
        about="2,000 Runs at once, 200 Pods",
        arguments="--mode burst --runs 2000 --pods 200",
    ),
    Workload(
        name="drain-1000",
        about="1,000 Runs wait when the scheduler starts, 20 Pods",
        arguments="--runs 1000 --ceiling-patches 1000",
    ),
    Workload(
        name="drain-5000",
        about="5,000 Runs wait when the scheduler starts, 20 Pods",
        arguments="--runs 5000 --ceiling-patches 1000",
    ),
    Workload(
        name="drain-many",
        about="1,000 Runs wait, in 50 namespaces and of 50 Runtimes, with one Pod each",
        arguments="--runs 1000 --namespaces 50 --runtimes 50 --pods 50 --ceiling-patches 1000",
    ),
    _open("open", "40 Runs a second, 0.5 s each, 20 Pods"),
    _open("open-hopeless-500", "as `open`, beside 500 Runs that can never fit", "--hopeless 500"),
    _open("open-hopeless-2000", "as `open`, beside 2,000 Runs that can never fit", "--hopeless 2000"),
    _open(
        "open-elsewhere",
        "as `open`, beside 5,000 Runs that wait for another Runtime's room, or a full resource",
        "--waiting-elsewhere 5000",
    ),
    _open("open-heartbeats", "as `open`, with heartbeats of 100 Pods, every 5 s", "--pods 100 --heartbeat 5"),
    _open(
        "open-many",
        "as `open`, in 50 namespaces and of 50 Runtimes, with one Pod each",
        "--namespaces 50 --runtimes 50 --pods 50",
    ),
    Workload(
        name="start",
        about="10,000 Runs wait when the scheduler starts, 1,000 Pods",
        arguments="--runs 10000 --pods 1000",
        most_rounds=1,
    ),
)


def named(name: str) -> Workload:
    """The workload of a name. Raises `LookupError` for none."""
    for one in WORKLOADS:
        if one.name == name:
            return one
    raise LookupError(f"no workload is called {name}: there are {', '.join(one.name for one in WORKLOADS)}")


def chosen(names: Sequence[str]) -> list[Workload]:
    """Those of these names, in the order in which they are measured; all without a name."""
    asked = {named(name) for name in names}
    return [one for one in WORKLOADS if not asked or one in asked]
