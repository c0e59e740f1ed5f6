"""What a bench is asked: how many Runs come, when and beside what, and how it is measured."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, lcm
from random import Random

from kruntimes_core.model.messages import InputError, plural

MOST_RUNS = 1_000_000
"""Runs of a round. Each is kept in memory, and planned before anything can be interrupted."""
FEWEST_SLOTS = 4
"""Slots of a Pod where Runs end again."""
_SPARE = 2.0
"""If Runs end again: the factor by which the room exceeds the Runs that are under way on average."""


class Mode(StrEnum):
    """How the Runs come."""

    DRAIN = "drain"
    """They all wait already when the scheduler starts."""
    BURST = "burst"
    """They are all created at once."""
    OPEN = "open"
    """They arrive at random moments of a given rate (Poisson), whether or not those before are placed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchLoad:
    """One load. Everything random in it depends on `seed` alone."""

    mode: Mode = Mode.DRAIN
    runs: int = 1_000
    """How many Runs come at once; not used by `OPEN`."""
    rate: float = 40.0
    """Runs a second, and for how many `seconds`; used by `OPEN`."""
    seconds: float = 30.0
    pods: int = 20
    """In all; they are dealt out to the namespaces and Runtimes."""
    slots: int | None = None
    """How many Runs a Pod takes; None: enough for the load."""
    duration: tuple[float, float] | None = None
    """Seconds for which a Run occupies its slot, drawn evenly between both; None: it stays."""
    hopeless: int = 0
    """Runs beside the load that ask for more than any Pod has."""
    waiting_elsewhere: int = 0
    """Runs beside the load that wait for a resource of its Pods that is in use, or for another Runtime."""
    namespaces: int = 1
    runtimes: int = 1
    heartbeat_seconds: float = 5.0
    """Between two heartbeats of a Pod; 0: its first one is an hour ahead, and no other comes."""
    cohorts: int = 0
    """How many groups of Runs, in each namespace and Runtime, must each be on one Pod; 0: no affinity."""
    seed: int = 0

    def check(self) -> None:
        """Raises `InputError` for places without a Pod, a load without an end, and cohorts without a Run."""
        least = max(self.namespaces, self.runtimes)
        if self.pods < least:
            raise InputError(f"--pods {self.pods} is too few: give at least {least}, one for each place")
        expected = self.rate * self.seconds if self.mode is Mode.OPEN else self.runs
        if expected > MOST_RUNS:
            less = "a lower --rate or fewer --seconds" if self.mode is Mode.OPEN else "fewer --runs"
            runs = f"{expected:.15g} {plural(expected, 'Run')}"
            raise InputError(f"a round of {runs} is more than {MOST_RUNS}: give {less}")
        if expected < 1:
            raise InputError(
                f"a round of {expected:.3g} {plural(expected, 'Run')} measures nothing:"
                " give a higher --rate or more --seconds"
            )
        fewest = self._fewest_in_a_cell(int(expected))
        if self.cohorts > max(fewest, 1):
            raise InputError(
                f"--cohorts {self.cohorts} are too many: a namespace and Runtime gets {fewest} of the Runs:"
                " give no more than that"
            )

    def _fewest_in_a_cell(self, runs: int) -> int:
        """How many of so many Runs come to the cell that gets the fewest of those that get any."""
        full, rest = divmod(runs, self.pods)
        pods = Counter(cell(self, pod) for pod in range(self.pods))
        further = Counter(cell(self, pod) for pod in range(rest))
        return min(filter(None, (full * number + further[one] for one, number in pods.items())), default=0)

    def arrivals(self, round_number: int) -> list[float]:
        """When each Run is created, in seconds from the start of a round."""
        if self.mode is not Mode.OPEN:
            return [0.0] * self.runs
        random = Random(f"{self.seed}/{round_number}")  # noqa: S311 - a load
        moments, moment = [], random.expovariate(self.rate)
        while moment < self.seconds:
            moments.append(moment)
            moment += random.expovariate(self.rate)
        return moments

    @property
    def slots_of_a_pod(self) -> int:
        """How many Runs a Pod takes."""
        if self.slots is not None:
            return self.slots
        if self.mode is not Mode.OPEN:
            return self.runs if self.cohorts else ceil(self.runs / self.pods)
        expected = self.rate * (self.seconds if self.duration is None else max(self.duration))
        if self.cohorts:
            return max(ceil(expected * _SPARE), FEWEST_SLOTS)
        return max(ceil(expected * _SPARE / self.pods), FEWEST_SLOTS)

    def draw_seconds(self, name: str) -> float | None:
        """How long a Run occupies its slot; None: for good."""
        if self.duration is None:
            return None
        return Random(f"{self.seed}/{name}").uniform(*self.duration)  # noqa: S311 - a load


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a Pod or a Run is: the number of its namespace, and of its Runtime."""

    namespace: int
    runtime: int


def cell(load: BenchLoad, pod: int) -> Cell:
    """The cell of a Pod by its number: all namespaces and all Runtimes are used, in changing pairs."""
    shift = pod // lcm(load.namespaces, load.runtimes)
    return Cell(pod % load.namespaces, (pod + shift) % load.runtimes)


def cells(load: BenchLoad) -> list[Cell]:
    """Every cell that has a Pod, once."""
    return list(dict.fromkeys(cell(load, pod) for pod in range(load.pods)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long a bench waits, in seconds, for what may come without being asked for."""

    other_scheduler: float = 1.5
    """For one that the bench did not start to place a Run."""
    quiet: float = 1.0
    """Without any write, until a scheduler is taken to have done what it does."""
    longest_quiet: float = 60.0
    """For that quiet; a scheduler that writes on is measured as it is."""
    namespaces: float = 3.0
    """For a controller to end the deletion of namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """One call."""

    load: BenchLoad = field(default_factory=BenchLoad)
    command: str | None = None
    """The scheduler, as a command line with placeholders; None: ours."""
    external: bool = False
    """The scheduler runs already."""
    pid: int | None = None
    """Its number, where it runs already and is to be measured."""
    config: str | None = None
    """A configuration for ours."""
    kubeconfig: str | None = None
    context: str | None = None
    repeat: int = 1
    ceiling_patches: int = 500
    in_flight: int = 32
    """Patches of the ceiling at a time."""
    patience_seconds: float = 60.0
    """A round in which nothing was placed for so long is over."""
    anywhere: bool = False
    """Also a server that is not on this machine."""
    waits: Waits = field(default_factory=Waits)
