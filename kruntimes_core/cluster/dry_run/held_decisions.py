"""Decisions that a dry run holds: they reserve room as if they were written, until followed or expired."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kruntimes_core.cluster.api_dispatcher import NOT_SENT
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.report import (
    Difference,
    DifferenceKind,
    DryRunReport,
    Hint,
    NotCompared,
    ours,
)
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import (
    PendingBind,
    Refused,
    Write,
    WriteAnswer,
    WriteKind,
)
from kruntimes_core.engine.cache import RunKey
from kruntimes_core.engine.clock import ticks
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.model.run import Phase

PATIENCE_SECONDS = 30.0
"""For how long a decision is held before it counts as not followed. A healthy scheduler decides within a
second; a hold must end, because what it reserves keeps other Runs out."""

# Older binds that were not followed say little about what is decided now.
_REMEMBERED = 1_000
_NOT_FOLLOWED = Refused(0, retry_after=3600.0)
"""The write was never sent; the Run is tried again after the longest backoff, and not before."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldDecision:
    """A decision whose write was never sent."""

    write: Write
    at: int
    """Since when it is held, in ticks."""

    @property
    def key(self) -> RunKey:
        """Its Run."""
        return self.write.namespace, self.write.uid


class HeldDecisions:
    """At most one for each Run, the oldest first. Those that are not followed in time are reported."""

    def __init__(
        self, *, engine: Engine, clock: Clock, report: DryRunReport, patience_seconds: float
    ) -> None:
        """patience_seconds: for how long a decision is held."""
        self._engine = engine
        self._clock = clock
        self._report = report
        self._patience = ticks(patience_seconds)
        self._held: dict[RunKey, HeldDecision] = {}
        self._diverged: deque[tuple[str, int, int]] = deque(maxlen=_REMEMBERED)
        """Binds that were not followed: namespace, and from when until when they counted."""
        self._reported: set[RunKey] = set()

    def __len__(self) -> int:
        return len(self._held)

    def of(self, key: RunKey) -> HeldDecision | None:
        """The decision that is held for a Run."""
        return self._held.get(key)

    def add(self, write: Write) -> None:
        """Hold a write from now on."""
        held = HeldDecision(write, self._clock.now().ticks)
        self._held[held.key] = held

    def release(self, held: HeldDecision, answer: WriteAnswer, *, followed: bool = False) -> None:
        """Hold a decision no more, and tell the engine what came of its write.

        followed: the Run is where the write would have placed it.
        """
        write, now = held.write, self._clock.now()
        del self._held[held.key]
        if write.kind is WriteKind.BIND and not followed:
            self._diverged.append((write.namespace, held.at, now.ticks))
        self._engine.written(write, answer, now)

    def follows_divergence(self, held: HeldDecision) -> bool:
        """Whether a bind of the namespace counted when this was decided, and was not followed."""
        namespace = held.write.namespace
        return any(where == namespace and begin <= held.at <= end for where, begin, end in self._diverged)

    def contended(self, key: RunKey, pod: str) -> bool:
        """Whether a Run other than this one is held on that Pod."""
        namespace, uid = key
        return any(
            isinstance(write.pending, PendingBind)
            and (write.namespace, write.pending.assumption.pod.name) == (namespace, pod)
            and write.uid != uid
            for write in (held.write for held in self._held.values())
        )

    # Expiry

    def reported(self, key: RunKey) -> bool:
        """Whether a Run was reported as left, and nothing has become of it since."""
        return key in self._reported

    def forget(self, key: RunKey) -> bool:
        """The Run was decided or changed. True if it was reported as left."""
        known = key in self._reported
        self._reported.discard(key)
        return known

    def gone(self, event: events.RunGone) -> None:
        """A Run was deleted."""
        key = (event.namespace, event.uid)
        if key in self._held:
            self._drop(self._held[key], NotCompared.GONE)
        self._reported.discard(key)

    def review(self) -> None:
        """A list or a read may have shown that Runs are gone or decided: end what is held for those."""
        for held in list(self._held.values()):
            if self._pending_entry(held) is None:
                self._drop(held, self._why_closed(held))
        self._reported = {key for key in self._reported if self._engine.knows(key)}

    def process_next(self) -> bool:
        """End the oldest decision if its time is up; False if it is not."""
        held = next(iter(self._held.values()), None)
        if held is None or self._clock.now().ticks - held.at < self._patience:
            return False
        entry = self._pending_entry(held)
        if entry is None:
            self._drop(held, self._why_closed(held))
        elif not self._engine.deciding:
            self._drop(held, NotCompared.GAP)
        else:
            self._expire(held, entry)
        return True

    def stop(self) -> None:
        """Answer all that is held: it will never be written."""
        for held in list(self._held.values()):
            self._drop(held, NotCompared.STOPPED)

    # Inside

    def _pending_entry(self, held: HeldDecision) -> RunEntry | None:
        """The Run of a decision, while the running scheduler has still to decide on it."""
        entry = self._engine.find(held.write.namespace, held.write.name)
        if entry is None or self._engine.in_flight(entry) is not held.write or not is_pending(entry):
            return None
        return entry

    def _expire(self, held: HeldDecision, entry: RunEntry) -> None:
        decision = entry.decision
        if decision is not None and held.key not in self._reported:
            self._reported.add(held.key)
            bind = held.write.kind is WriteKind.BIND
            message = entry.observation.message
            self._report.differ(
                Difference(
                    run=decision.run,
                    kind=DifferenceKind.LEFT_WAITING if bind else DifferenceKind.LEFT_UNENDED,
                    ours=ours(decision),
                    theirs="pending",
                    # This scheduler's own text was never written: what stands in its place is not known here.
                    detail=message if message != entry.waiting_text else "",
                    hints=(Hint.FOLLOWS,) if self.follows_divergence(held) else (),
                )
            )
        self.release(held, _NOT_FOLLOWED)

    def _drop(self, held: HeldDecision, why: NotCompared) -> None:
        if held.key not in self._reported:
            self._report.skip(why)
        self.release(held, NOT_SENT)

    def _why_closed(self, held: HeldDecision) -> NotCompared:
        return NotCompared.GAP if self._engine.knows(held.key) else NotCompared.GONE


def is_pending(entry: RunEntry) -> bool:
    """Whether a Run waits for a scheduler's decision."""
    return entry.observation.phase is Phase.PENDING
