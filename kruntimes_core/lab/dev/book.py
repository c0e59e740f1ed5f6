"""What happened in a development cluster, counted as its API server accepts it."""

from __future__ import annotations

from collections import Counter, deque

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.requests import AcceptedWrite
from kruntimes_core.lab.runtimes.objects import runtime_of
from kruntimes_core.model.run import ACTIVE_PHASES, TERMINAL_PHASES, Phase

_RATE_TICKS = 10 * SECOND


class Book:
    """Counts of Runs. It is an observer of an `ApiServer`: append `note` to its observers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began = clock.now().ticks
        self.created = 0
        self.ended: Counter[str] = Counter()
        """Runs that ended, by phase; those that are deleted since are counted too."""
        self.alive: Counter[str] = Counter()
        """Runs that stand and have not ended, by phase."""
        self.placements = 0
        self.retries = 0
        self.placed_on: Counter[str] = Counter()
        """Placements by Pod."""
        self.runtimes: set[tuple[str, str]] = set()
        """(namespace, Runtime) of all Pods that there were."""
        self.first_placed: int | None = None
        self.last_ended: int | None = None
        self._recent: deque[int] = deque()

    @property
    def unfinished(self) -> int:
        """Runs that stand and have not ended."""
        return self.alive.total()

    @property
    def well(self) -> bool:
        """Whether every Run that was created has succeeded."""
        return self.ended[Phase.SUCCEEDED] == self.created

    def seconds(self) -> float:
        """Since the beginning."""
        return (self._clock.now().ticks - self.began) / SECOND

    def rate(self) -> float:
        """Placements a second, over the last ten seconds."""
        now = self._clock.now().ticks
        while self._recent and self._recent[0] < now - _RATE_TICKS:
            self._recent.popleft()
        return len(self._recent) * SECOND / max(min(now - self.began, _RATE_TICKS), SECOND)

    def note(self, write: AcceptedWrite) -> None:
        """Take note of an accepted write."""
        if write.plural == "pods" and write.after is not None:
            self.runtimes.add((metadata_of(write.after)["namespace"], runtime_of(write.after)))
        if write.plural == "runs":
            self._run(write.before, write.after)

    def _run(self, before: Object | None, after: Object | None) -> None:
        was, now = _phase(before), _phase(after)
        if was == now:
            return
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
