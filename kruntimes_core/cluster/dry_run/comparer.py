"""Compares each decision of this scheduler with the running scheduler's, when that one is observed.

A Run is looked at before the engine takes an event in, because a difference must be judged by what was known
then, and after, when it is sure that the event counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kruntimes_core.cluster.api_dispatcher.answers import NOT_SENT
from kruntimes_core.cluster.api_dispatcher.dry_run import WriteHolder
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.compared_run import (
    ComparedRun,
    current_decision,
    is_same_pod,
    pending_run,
)
from kruntimes_core.cluster.dry_run.difference import Difference, DifferenceKind, Hint, NotCompared, ours
from kruntimes_core.cluster.dry_run.evaluation import EvaluationQueue, PlacementComparer
from kruntimes_core.cluster.dry_run.held_decisions import PATIENCE_SECONDS, ExpiredDecisions, HeldDecisions
from kruntimes_core.cluster.dry_run.report import DryRunReport
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker.protocol import PluginWorker
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Refused
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.model.run import Phase, RunObservation

_CONFLICT = Refused(409)
"""What the server would answer to a write that is held, once the Run has changed."""
_ENDS = {Phase.FAILED: Outcome.FAILED, Phase.CANCELLED: Outcome.CANCELLED}


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunSettings:
    """How a scheduler runs dry."""

    patience_seconds: float = PATIENCE_SECONDS
    """For how long a decision is held before it counts as not followed."""


class DryRunComparer:
    """Compares, as long as it is told of every event, before and after the engine, and may `process_next`."""

    def __init__(
        self,
        *,
        settings: DryRunSettings,
        engine: Engine,
        clock: Clock,
        planner: PluginWorker,
        log: Log,
        wake: Callable[[], None],
    ) -> None:
        """wake: called when there may be something to do."""
        self.report = DryRunReport(began=clock.now().wall, log=log)
        self._engine = engine
        self._clock = clock
        self._held = HeldDecisions(engine=engine, clock=clock)
        self._expired = ExpiredDecisions(
            engine=engine,
            clock=clock,
            held=self._held,
            report=self.report,
            patience_seconds=settings.patience_seconds,
        )
        self._evaluations = EvaluationQueue(planner=planner, wake=wake)
        self._placements = PlacementComparer(report=self.report, evaluations=self._evaluations, engine=engine)
        self._compared: ComparedRun | None = None
        """The Run of the event that the engine is taking in."""

    @property
    def holder(self) -> WriteHolder:
        """What holds the writes of a dry run."""
        return self._expired

    @property
    def held(self) -> int:
        """How many decisions are not compared yet."""
        return len(self._held)

    def process_next(self) -> bool:
        """Do one thing that is due; False if nothing is."""
        return self._expired.process_next() or self._evaluations.process_next()

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
        if compared is not None and compared.entry.observation is compared.seen:
            self._observed(compared)
        elif isinstance(event, events.RunGone):
            self._expired.gone(event)
        elif isinstance(event, events.RunsListed):
            self._expired.review()

    # Inside

    def _look_at(self, entry: RunEntry, seen: RunObservation) -> ComparedRun:
        held = self._held.of(entry.key)
        decision = current_decision(entry, held)
        same_pod = is_same_pod(decision, held, seen)
        pod = seen.assigned_pod if not same_pod else None
        contended = pod is not None and self._held.contended(entry.key, pod)
        diverges = held is not None and seen.phase is not Phase.PENDING and not same_pod
        follows = held is not None and diverges and self._held.follows_divergence(held)
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
        if compared.seen.phase is Phase.PENDING:
            if not compared.same_request:
                self._changed(compared)
            return
        self._decided(compared)
        key, held = compared.entry.key, compared.held
        self._expired.forget(key)
        if held is not None and self._held.of(key) is held:
            self._held.release(held, NOT_SENT, followed=compared.same_pod)

    def _changed(self, compared: ComparedRun) -> None:
        """The Run asks for something else: what is held for it is not what would be done any more."""
        late = self._expired.forget(compared.entry.key)
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
            self._placements.compare(compared, compared.decision)
        elif compared.decision is not None:
            self._ended(compared, compared.decision)

    def _why_not(self, compared: ComparedRun) -> NotCompared | None:
        """Why there is nothing to compare."""
        seen = compared.seen
        if not self._engine.deciding or not (seen.active or seen.phase in _ENDS):
            return NotCompared.GAP
        if self._expired.reported(compared.entry.key):
            return NotCompared.LATE
        if not compared.same_request:
            return NotCompared.CHANGED
        return NotCompared.BEFORE if compared.decision is None else None

    def _ended(self, compared: ComparedRun, decision: Decision) -> None:
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
                hints=(Hint.FOLLOWS,) if compared.follows_divergence else (),
            )
        )
