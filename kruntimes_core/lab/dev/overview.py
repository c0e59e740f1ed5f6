"""A development cluster at one moment, as values: what a display shows, and a summary counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.lab.dev.cluster import DevCluster
from kruntimes_core.lab.dev.manifests import NAMESPACE
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase

_KEPT_DECISIONS = 20


@dataclass(frozen=True, slots=True)
class Load:
    """What a Pod holds of one resource."""

    resource: str
    used: int
    capacity: int | Fraction


@dataclass(frozen=True, slots=True)
class PodLoad:
    """One Pod as the scheduler knows it, what it has just reserved there included."""

    name: str
    runtime: str
    loads: tuple[Load, ...]
    unavailable: str | None
    """Why it takes no Runs; None when it does."""


@dataclass(frozen=True, slots=True)
class Told:
    """One decision, and when it was taken."""

    at: datetime
    run: str
    pod: str | None
    text: str
    """Why there is no Pod; empty when there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything that is shown."""

    phases: tuple[tuple[str, int], ...]
    """Runs by phase, those that ended since the beginning; a phase without Runs is left out."""
    pods: tuple[PodLoad, ...]
    decisions: tuple[Told, ...]
    """The latest, oldest first."""
    placements: int
    rate: float
    """Placements a second."""


class Observer:
    """Looks at a cluster, and keeps its latest decisions."""

    def __init__(self, cluster: DevCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._decisions: deque[Told] = deque(maxlen=_KEPT_DECISIONS)
        cluster.host.engine.journal.listeners.append(self._decided)

    def look(self) -> Overview:
        """The cluster as it stands."""
        book = self._cluster.book
        return Overview(
            phases=tuple(self._phases()),
            pods=tuple(self._pods()),
            decisions=tuple(self._decisions),
            placements=book.placements,
            rate=round(book.rate(), 1),
        )

    def _phases(self) -> Iterator[tuple[str, int]]:
        counts = self._cluster.book.alive + self._cluster.book.ended
        for phase in Phase:
            if counts[phase]:
                yield phase.value, counts[phase]

    def _pods(self) -> Iterator[PodLoad]:
        state, wall = self._cluster.host.engine.cache, self._clock.now().wall
        for namespace, runtime in sorted(self._cluster.book.runtimes):
            pods = state.snapshot(namespace, runtime, wall).pods
            for name in sorted(pods, key=_by_number):
                yield _load(pods[name])

    def _decided(self, decision: Decision) -> None:
        pod = decision.pod.name if decision.pod and decision.outcome is Outcome.SCHEDULED else None
        text = "" if pod is not None else decision.message or decision.reason
        run = _short(decision.run.namespace, decision.run.name)
        self._decisions.append(Told(self._clock.now().wall, run, pod, text))


def _load(pod: RuntimePod) -> PodLoad:
    loads = tuple(
        Load(resource, pod.usage.get(resource, 0), capacity)
        # `runs` first: every Pod has it.
        for resource, capacity in sorted(pod.capacity.items(), key=lambda one: (one[0] != "runs", one[0]))
    )
    return PodLoad(_short(pod.namespace, pod.name), pod.runtime, loads, pod.unavailable)


def _short(namespace: str, name: str) -> str:
    return name if namespace == NAMESPACE else f"{namespace}/{name}"


def _by_number(name: str) -> tuple[str, int, str]:
    """`py-2` before `py-10`."""
    stem, _, number = name.rpartition("-")
    return stem, int(number) if number.isascii() and number.isdigit() else -1, name
