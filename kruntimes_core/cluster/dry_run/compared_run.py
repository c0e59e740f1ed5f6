"""A Run at the moment at which the running scheduler's decision on it is observed."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.dry_run.held_decisions import HeldDecision, is_pending
from kruntimes_core.engine import events
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.model.resource_version import older
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.snapshot import Snapshot

_UNDECIDED = frozenset({Stage.AWAITING_QUEUE_KEY, Stage.QUEUED, Stage.SCHEDULING, Stage.AWAITING_READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """What was known of a Pending Run before the engine took in what is observed of it now."""

    entry: RunEntry
    former: RunObservation
    seen: RunObservation
    decision: Decision | None
    """See `current_decision`."""
    held: HeldDecision | None
    """The write by which that decision would be carried out."""
    same_pod: bool
    """Whether the Run is observed on the Pod that was chosen here."""
    snapshot: Snapshot
    """What was known, without a reservation of this Run on another Pod than it is observed on."""
    follows_divergence: bool
    """Whether another Run counted here, when this one was decided, on a Pod on which it was not placed."""
    contended: bool
    """Whether another Run is held on the Pod on which this one is observed."""

    @property
    def same_request(self) -> bool:
        """Whether the Run still asks for what was decided on."""
        return all(
            getattr(self.former, name) == getattr(self.seen, name)
            for name in ("run", "cancel_requested", "deleting", "invalid")
        )


def pending_run(engine: Engine, event: events.RunObserved) -> RunEntry | None:
    """The known Run of an event that the engine will take in, if the Run is Pending until then."""
    seen = event.observation
    entry = engine.find(seen.run.namespace, seen.run.name)
    if entry is None or entry.run.uid != seen.run.uid or not is_pending(entry):
        return None
    # A version that cannot be ordered counts only after a read, which no watch shows.
    return entry if older(entry.floor, seen.version) else None


def current_decision(entry: RunEntry, held: HeldDecision | None) -> Decision | None:
    """What was decided here on the Run as it was; None if nothing yet, or not anew after a change."""
    decision = entry.decision
    if decision is None or decision.run != entry.run or entry.stage in _UNDECIDED:
        return None
    # A placement that is no longer held will be decided anew after its backoff.
    return None if decision.outcome is Outcome.SCHEDULED and held is None else decision


def is_same_pod(decision: Decision | None, held: HeldDecision | None, seen: RunObservation) -> bool:
    """Whether the Run is observed on the Pod that was chosen here."""
    chosen = decision.pod if decision is not None else None
    if held is None or chosen is None or not seen.active:
        return False
    if seen.assigned_pod_uid is None:
        return seen.assigned_pod == chosen.name
    return seen.assigned_pod_uid == chosen.uid
