"""A Run when the running scheduler's decision on it is seen, before the engine takes that in."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.comparing.holds import Hold, is_pending
from kruntimes_core.engine import events
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.model.resource_version import older
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.snapshot import Snapshot

_UNDECIDED = frozenset({Stage.AWAITING_QUEUE_KEY, Stage.QUEUED, Stage.SCHEDULING, Stage.AWAITING_READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What was known of a Pending Run, and what is seen of it now."""

    entry: RunEntry
    former: RunObservation
    seen: RunObservation
    decision: Decision | None
    """What was decided here on the Run as it was; None if nothing yet, or not anew after a change."""
    hold: Hold | None
    """The write by which that would be done."""

    @property
    def same_question(self) -> bool:
        """Whether the Run still asks for what was decided on."""
        return all(
            getattr(self.former, name) == getattr(self.seen, name)
            for name in ("run", "cancel_requested", "deleting", "invalid")
        )

    @property
    def same_pod(self) -> bool:
        """Whether the Run is seen on the Pod that was chosen here."""
        chosen = self.decision.pod if self.decision is not None else None
        if self.hold is None or chosen is None or not self.seen.active:
            return False
        if self.seen.assigned_pod_uid is None:
            return self.seen.assigned_pod == chosen.name
        return self.seen.assigned_pod_uid == chosen.uid


@dataclass(frozen=True, slots=True)
class Look:
    """A sighting, and what an answer to it must be judged by."""

    sighting: Sighting
    snapshot: Snapshot
    """What was known then, without a reservation of this Run on another Pod than it is seen on."""
    misled: bool
    """Whether another Run counted here, when this one was decided, on a Pod on which it was not placed."""
    crowded: bool
    """Whether another Run is held on the Pod on which this one is seen."""


def pending_run(engine: Engine, event: events.Event) -> RunEntry | None:
    """The known Run of an event that will count, if it is Pending until then."""
    if not isinstance(event, events.RunObserved):
        return None
    seen = event.observation
    entry = engine.find(seen.run.namespace, seen.run.name)
    if entry is None or entry.run.uid != seen.run.uid or not is_pending(entry):
        return None
    # A version that cannot be ordered counts only after a read, which no watch shows.
    return entry if older(entry.floor, seen.version) else None


def sight(entry: RunEntry, seen: RunObservation, hold: Hold | None) -> Sighting:
    """Take down what is known of a Run, before the engine takes in what is seen."""
    made = entry.decision
    stale = made is None or made.run != entry.run or entry.stage in _UNDECIDED
    if not stale and made is not None and made.outcome is Outcome.SCHEDULED:
        stale = hold is None
    return Sighting(
        entry=entry, former=entry.observation, seen=seen, decision=None if stale else made, hold=hold
    )
