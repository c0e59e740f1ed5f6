"""What a scheduler may know: so many Pods, and Runs in each of three conditions, as API objects."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from kruntimes_core.lab.bench.live import objects
from kruntimes_core.model.times import format_time

NAMESPACE = "default"
_BENCH, _RUNTIME = "memory", "bench-000"
_SLOTS = 4
_Object = objects.Object


@dataclass(frozen=True, slots=True)
class Known:
    """How many there are of each. Active Runs are on Pods of four slots: give enough of them."""

    pods: int = 0
    active: int = 0
    waiting: int = 0
    ended: int = 0

    @property
    def runs(self) -> int:
        """All Runs."""
        return self.active + self.waiting + self.ended

    def objects(self) -> Iterator[_Object]:
        """All of it, as it would be listed; equal each time, but for the time of the heartbeats."""
        uids = random.Random(0)
        now = datetime.now(UTC)
        placed: list[tuple[str, str]] = []
        for number in range(self.pods):
            pod = objects.pod(f"pod-{number:05}", _BENCH, _RUNTIME, {"runs": _SLOTS})
            yield _stored({**pod, **objects.alive(now, ahead=True)}, uids, now)
            placed.append((pod["metadata"]["name"], pod["metadata"]["uid"]))
        for number in range(self.runs):
            yield _stored({**_run(number, self), **self._status(number, placed)}, uids, now)

    def _status(self, number: int, placed: list[tuple[str, str]]) -> _Object:
        """The active ones come first, then those that wait."""
        if number < self.active:
            return objects.occupying(*placed[number % len(placed)])
        return {"status": {"phase": "Pending"}} if number < self.active + self.waiting else objects.ended()


def _run(number: int, known: Known) -> _Object:
    # More than any Pod has: so it waits, whatever runs.
    waits = known.active <= number < known.active + known.waiting
    requests = {"runs": _SLOTS + 1} if waits else None
    return objects.run(f"run-{number:06}", _BENCH, "known", _RUNTIME, requests)


def _stored(obj: _Object, uids: random.Random, now: datetime) -> _Object:
    """With what an API server adds."""
    uid = str(UUID(int=uids.getrandbits(128)))
    obj["metadata"].update(namespace=NAMESPACE, uid=uid, creationTimestamp=format_time(now))
    return obj
