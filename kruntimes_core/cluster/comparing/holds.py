"""Writes that are held without an answer, so that what they reserve counts as it would if they were sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.api_calls import PendingBind, Write, WriteAnswer, WriteKind
from kruntimes_core.engine.cache import RunKey
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.model.run import Phase

# What strayed longer ago than that many others says little of what is decided now.
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """A write that was never sent."""

    write: Write
    at: int
    """Since when, in ticks."""


class Holds:
    """At most one for each Run, the oldest first."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._holds: dict[RunKey, Hold] = {}
        self._strayed: deque[tuple[str, int, int]] = deque(maxlen=_REMEMBERED)
        """Binds that came otherwise: namespace, and from when until when they counted."""

    def __len__(self) -> int:
        return len(self._holds)

    def __iter__(self) -> Iterator[Hold]:
        return iter(list(self._holds.values()))

    def of(self, key: RunKey) -> Hold | None:
        """The write that is held for a Run."""
        return self._holds.get(key)

    @property
    def oldest(self) -> Hold | None:
        """The one that is held for the longest."""
        return next(iter(self._holds.values()), None)

    def add(self, write: Write) -> None:
        """Hold a write from now on."""
        self._holds[write.namespace, write.uid] = Hold(write, self._clock.now().ticks)

    def end(self, hold: Hold, answer: WriteAnswer, *, followed: bool = False) -> None:
        """Tell the engine what came of a write; it is held no more.

        followed: the Run is where the write would have placed it.
        """
        write, now = hold.write, self._clock.now()
        del self._holds[write.namespace, write.uid]
        if write.kind is WriteKind.BIND and not followed:
            self._strayed.append((write.namespace, hold.at, now.ticks))
        self._engine.written(write, answer, now)

    def misled(self, hold: Hold) -> bool:
        """Whether another bind of the namespace counted when this one was decided, and came otherwise."""
        namespace = hold.write.namespace
        return any(where == namespace and begin <= hold.at <= end for where, begin, end in self._strayed)

    def reserve(self, key: RunKey, pod: str) -> bool:
        """Whether another Run than this one is held on that Pod: nobody else knows of it."""
        namespace, uid = key
        return any(
            isinstance(write.pending, PendingBind)
            and (write.namespace, write.pending.assumption.pod.name) == (namespace, pod)
            and write.uid != uid
            for write in (hold.write for hold in self._holds.values())
        )

    def open_entry(self, hold: Hold) -> RunEntry | None:
        """The Run of a write that somebody is still to decide on; None if that was done, or it is gone."""
        entry = self._engine.find(hold.write.namespace, hold.write.name)
        if entry is None or self._engine.in_flight(entry) is not hold.write or not is_pending(entry):
            return None
        return entry


def is_pending(entry: RunEntry) -> bool:
    """Whether a Run waits for a scheduler's decision."""
    return entry.observation.phase is Phase.PENDING
