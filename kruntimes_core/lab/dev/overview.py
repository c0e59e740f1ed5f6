"""What happens in a development cluster: counts of Runs for the summary, and overviews for a display."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.requests import AcceptedWrite
from kruntimes_core.lab.dev.workload import NAMESPACE
from kruntimes_core.lab.runtimes.objects import runtime_of
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import ACTIVE_PHASES, TERMINAL_PHASES, Phase

_RATE_TICKS = 10 * SECOND
_KEPT_DECISIONS = 20


class RunCounts:
    """Counts of Runs, from the writes that an `ApiServer` accepts: append `note` to its observers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began = clock.now().ticks
        self.created = 0
        self.ended: Counter[str] = Counter()
        """Runs that have ended, by phase, those included that were deleted since."""
        self.alive: Counter[str] = Counter()
        """Runs that exist and have not ended, by phase."""
        self.placements = 0
        self.retries = 0
        self.placed_on: Counter[str] = Counter()
        """Placements by Pod."""
        self.runtimes: set[tuple[str, str]] = set()
        """(namespace, Runtime) of all Pods there have been."""
        self.first_placed: int | None = None
        self.last_ended: int | None = None
        self._moved = self.began
        """When a Run last came, went, or changed its phase."""
        self._recent: deque[int] = deque()

    @property
    def unfinished(self) -> int:
        """Runs that exist and have not ended."""
        return self.alive.total()

    @property
    def well(self) -> bool:
        """Whether every Run that was created has succeeded."""
        return self.ended[Phase.SUCCEEDED] == self.created

    def seconds(self) -> float:
        """Since the beginning."""
        return (self._clock.now().ticks - self.began) / SECOND

    def stalled_seconds(self) -> float:
        """For how long no Run has moved and all that have not ended wait; 0 while one is on a Pod."""
        if self.alive[Phase.PENDING] != self.unfinished:
            return 0.0
        return (self._clock.now().ticks - self._moved) / SECOND

    def rate(self) -> float:
        """Placements a second, over the last ten seconds."""
        now = self._clock.now().ticks
        while self._recent and self._recent[0] < now - _RATE_TICKS:
            self._recent.popleft()
        return len(self._recent) * SECOND / max(min(now - self.began, _RATE_TICKS), SECOND)

    def note(self, write: AcceptedWrite) -> None:
        """Count an accepted write."""
        if write.plural == "pods" and write.after is not None:
            self.runtimes.add((metadata_of(write.after)["namespace"], runtime_of(write.after)))
        if write.plural == "runs":
            self._run(write.before, write.after)

    def _run(self, before: Object | None, after: Object | None) -> None:
        was, now = _phase(before), _phase(after)
        if was == now:
            return
        self._moved = self._clock.now().ticks
        if was is None:
            self.created += 1
        elif was not in TERMINAL_PHASES:
            self.alive[was] -= 1
        if now in TERMINAL_PHASES:
            self.ended[now] += 1
            self.last_ended = self._clock.now().ticks
        elif now is not None:
            self.alive[now] += 1
        if now == Phase.SCHEDULED and after is not None:
            self._placed(after)
        if was in ACTIVE_PHASES and now == Phase.PENDING:
            self.retries += 1

    def _placed(self, run: Object) -> None:
        now = self._clock.now().ticks
        self.placements += 1
        self.placed_on[run["status"]["assignedPod"]] += 1
        self.first_placed = now if self.first_placed is None else self.first_placed
        self._recent.append(now)


def _phase(run: Object | None) -> str | None:
    if run is None:
        return None
    return str(run.get("status", {}).get("phase") or Phase.PENDING.value)


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One decision, and when it was made."""

    at: datetime
    run: str
    pod: str | None
    text: str
    """Why there is no Pod; empty when there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything that a display shows."""

    phases: tuple[tuple[str, int], ...]
    """Runs by phase, all that have ended included; a phase without Runs is left out."""
    pods: tuple[RuntimePod, ...]
    """As the scheduler's cache has them, assumed Runs included."""
    decisions: tuple[PastDecision, ...]
    """The latest, oldest first."""
    placements: int
    rate: float
    """Placements a second."""


class ClusterObserver:
    """Makes overviews of a cluster from its counts, the cache of its scheduler and the latest decisions."""

    def __init__(self, engine: Engine, counts: RunCounts, clock: Clock) -> None:
        self._engine = engine
        self._counts = counts
        self._clock = clock
        self._decisions: deque[PastDecision] = deque(maxlen=_KEPT_DECISIONS)
        engine.journal.listeners.append(self._decided)

    def overview(self) -> Overview:
        """The cluster as it is now."""
        return Overview(
            phases=tuple(self._phases()),
            pods=tuple(self._pods()),
            decisions=tuple(self._decisions),
            placements=self._counts.placements,
            rate=round(self._counts.rate(), 1),
        )

    def _phases(self) -> Iterator[tuple[str, int]]:
        counts = self._counts.alive + self._counts.ended
        for phase in Phase:
            if counts[phase]:
                yield phase.value, counts[phase]

    def _pods(self) -> Iterator[RuntimePod]:
        wall = self._clock.now().wall
        for namespace, runtime in sorted(self._counts.runtimes):
            pods = self._engine.cache.snapshot(namespace, runtime, wall).pods
            yield from (pods[name] for name in sorted(pods, key=_by_number))

    def _decided(self, decision: Decision) -> None:
        pod = decision.pod.name if decision.pod and decision.outcome is Outcome.SCHEDULED else None
        text = "" if pod is not None else decision.message or decision.reason
        if decision.error is not None:
            # The Run's own message stays what it was before.
            text = str(decision.error)
        run = short_name(decision.run.namespace, decision.run.name)
        self._decisions.append(PastDecision(self._clock.now().wall, run, pod, text))


def short_name(namespace: str, name: str) -> str:
    """The name, with its namespace unless that is the one in which the cluster started."""
    return name if namespace == NAMESPACE else f"{namespace}/{name}"


def _by_number(name: str) -> tuple[str, int, str]:
    """`py-2` before `py-10`."""
    stem, _, number = name.rpartition("-")
    return stem, int(number) if number.isascii() and number.isdigit() else -1, name
