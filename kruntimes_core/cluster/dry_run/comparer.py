"""Compares each decision of this scheduler with the running scheduler's, when that one is observed.

A Run is looked at before the engine takes an event in, because a difference must be judged by what was known
then, and after, when it is sure that the event counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kruntimes_core.cluster.api_dispatcher import NOT_SENT
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.classification import DivergentPlacement, PlacementEvaluator
from kruntimes_core.cluster.dry_run.held_decisions import (
    PATIENCE_SECONDS,
    HeldDecision,
    HeldDecisions,
    is_pending,
)
from kruntimes_core.cluster.dry_run.report import (
    Difference,
    DifferenceKind,
    DryRunReport,
    Hint,
    NotCompared,
    ours,
)
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Applied, Refused, Write, WriteKind
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.model.metadata import older
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.model.snapshot import Snapshot

_HELD = frozenset({WriteKind.BIND, WriteKind.TERMINAL})
_CONFLICT = Refused(409)
"""What the server would answer to a write that is held, once the Run has changed."""
_UNDECIDED = frozenset({Stage.AWAITING_QUEUE_KEY, Stage.QUEUED, Stage.SCHEDULING, Stage.AWAITING_READ})
_ENDS = {Phase.FAILED: Outcome.FAILED, Phase.CANCELLED: Outcome.CANCELLED}


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunSettings:
    """How a scheduler runs dry."""

    patience_seconds: float = PATIENCE_SECONDS
    """For how long a decision is held before it counts as not followed."""


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
    def hints(self) -> tuple[Hint, ...]:
        """Why a difference may come from timing, as far as is known here."""
        return (Hint.FOLLOWS,) if self.follows_divergence else ()

    @property
    def counted(self) -> bool:
        """Whether the engine took in what is observed."""
        known = self.entry.observation
        return known is not self.former and known.version == self.seen.version

    @property
    def same_request(self) -> bool:
        """Whether the Run still is what was decided on."""
        return all(
            getattr(self.former, name) == getattr(self.seen, name)
            for name in ("run", "cancel_requested", "deleting", "invalid")
        )


class DryRunComparer:
    """Called before and after the engine takes an event in; an idle scheduling loop calls `process_next`."""

    def __init__(
        self,
        *,
        settings: DryRunSettings,
        engine: Engine,
        clock: Clock,
        plugin_worker: PluginWorker,
        log: Log,
        wake: Callable[[], None],
    ) -> None:
        """wake: called when there may be something to do."""
        self.report = DryRunReport(began=clock.now().wall, log=log)
        self._engine = engine
        self._clock = clock
        self._held = HeldDecisions(
            engine=engine, clock=clock, report=self.report, patience_seconds=settings.patience_seconds
        )
        self._placements = PlacementEvaluator(report=self.report, plugin_worker=plugin_worker, wake=wake)
        self._compared: ComparedRun | None = None
        """The Run of the event that the engine is taking in."""

    @property
    def held(self) -> int:
        """How many decisions are held, and not compared yet."""
        return len(self._held)

    def process_next(self) -> bool:
        """Do one thing that is due; False if nothing is."""
        return self._held.process_next() or self._placements.process_next()

    def take_write(self, write: Write) -> None:
        """Hold a bind or a terminal status; a text or a withdrawal counts as written, in the same version."""
        if write.kind in _HELD:
            self._held.add(write)
        else:
            self._engine.written(write, Applied(write.guard), self._clock.now())

    def was_read(self) -> None:
        """A Run was read, and the engine knows what was found."""
        self._held.review()

    def stop(self) -> None:
        """Hold nothing any more."""
        self._held.stop()

    def before(self, event: events.Event) -> None:
        """The engine is about to take an event in."""
        self._compared = None
        if isinstance(event, events.RunObserved):
            entry = pending_run(self._engine, event)
            if entry is not None:
                self._compared = self._look_at(entry, event.observation)

    def after(self, event: events.Event) -> None:
        """The engine has taken an event in."""
        compared, self._compared = self._compared, None
        if compared is not None and compared.counted:
            self._observed(compared)
        elif isinstance(event, events.RunGone):
            self._held.gone(event)
        elif isinstance(event, events.RunsListed):
            self._held.review()

    # Inside

    def _look_at(self, entry: RunEntry, seen: RunObservation) -> ComparedRun:
        """Note what is known, and release what is held for the Run if it was placed on another Pod."""
        held = self._held.of(entry.key)
        decision = current_decision(entry, held)
        same_pod = is_same_pod(decision, held, seen)
        other_pod = None if same_pod else seen.assigned_pod
        contended = other_pod is not None and self._held.contended(entry.key, other_pod)
        diverges = seen.phase is not Phase.PENDING and not same_pod
        follows = diverges and held is not None and self._held.follows_divergence(held)
        if held is not None and seen.active and not same_pod:
            # What is reserved here must not count when the plugins are called again.
            self._held.release(held, NOT_SENT)
        run, now = entry.run, self._clock.now()
        return ComparedRun(
            entry=entry,
            former=entry.observation,
            seen=seen,
            decision=decision,
            held=held,
            same_pod=same_pod,
            snapshot=self._engine.cache.snapshot(run.namespace, run.runtime, now.wall),
            follows_divergence=follows,
            contended=contended,
        )

    def _observed(self, compared: ComparedRun) -> None:
        """The event counted: compare what the running scheduler did, if it did anything."""
        if compared.seen.phase is Phase.PENDING:
            if not compared.same_request:
                self._changed(compared)
            return
        self._decided(compared)
        key, held = compared.entry.key, compared.held
        self._held.forget(key)
        if held is not None and self._held.of(key) is held:
            self._held.release(held, NOT_SENT, followed=compared.same_pod)

    def _changed(self, compared: ComparedRun) -> None:
        """The Run was changed, so what is held for it would not be done any more."""
        late = self._held.forget(compared.entry.key)
        if compared.held is not None:
            self._held.release(compared.held, _CONFLICT)
            if not late:
                self.report.skip(NotCompared.CHANGED)

    def _decided(self, compared: ComparedRun) -> None:
        """The running scheduler placed or ended the Run."""
        skipped = self._why_not(compared)
        if skipped is not None:
            self.report.skip(skipped)
        elif compared.decision is not None and compared.seen.active:
            self._placed(compared, compared.decision)
        elif compared.decision is not None:
            self._ended(compared, compared.decision)

    def _why_not(self, compared: ComparedRun) -> NotCompared | None:
        """Why there is nothing to compare."""
        seen = compared.seen
        if not self._engine.deciding or not (seen.active or seen.phase in _ENDS):
            return NotCompared.GAP
        if self._held.reported(compared.entry.key):
            return NotCompared.LATE
        if not compared.same_request:
            return NotCompared.CHANGED
        return NotCompared.BEFORE if compared.decision is None else None

    def _placed(self, compared: ComparedRun, decision: Decision) -> None:
        """The running scheduler placed the Run."""
        if compared.same_pod:
            self.report.agree()
            return
        self._placements.explain(
            DivergentPlacement(
                run=decision.run,
                decision=decision,
                decided_by_plugins=decided_by_plugins(decision, compared.former),
                profile=decision.profile or self._engine.profiles.of(decision.run.runtime),
                pod=compared.seen.assigned_pod or "",
                pod_uid=compared.seen.assigned_pod_uid,
                hints=compared.hints,
                snapshot=compared.snapshot,
                contended=compared.contended,
            )
        )

    def _ended(self, compared: ComparedRun, decision: Decision) -> None:
        """The running scheduler failed or cancelled the Run."""
        theirs = _ENDS[compared.seen.phase]
        if decision.outcome is theirs:
            self.report.agree()
            return
        otherwise = decision.outcome in _ENDS.values()
        self.report.differ(
            Difference(
                run=decision.run,
                kind=DifferenceKind.ENDED_OTHERWISE if otherwise else DifferenceKind.ENDED,
                ours=ours(decision),
                theirs=theirs.lower(),
                detail=compared.seen.message,
                hints=compared.hints,
            )
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


def decided_by_plugins(decision: Decision, former: RunObservation) -> bool:
    """Whether plugins decided; else the host did, by the Run alone."""
    if decision.outcome is Outcome.FAILED:
        return former.invalid is None
    return decision.outcome in (Outcome.SCHEDULED, Outcome.WAITING)
