"""Why the running scheduler chose another Pod: the plugins are called again, and what they say is judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from kruntimes_core.cluster.dry_run.compared_run import ComparedRun
from kruntimes_core.cluster.dry_run.difference import (
    Difference,
    DifferenceKind,
    Hint,
    NotCompared,
    Score,
    ScorePair,
    ours,
)
from kruntimes_core.cluster.dry_run.report import DryRunReport
from kruntimes_core.cluster.plugin_worker.protocol import PluginWorker
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.explain import EvaluateWork, Evaluation, EvaluationInput
from kruntimes_core.engine.plugin_work import WorkResult
from kruntimes_core.framework.plugin_results import PluginError, Reject
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PluginFailure, PodScores
from kruntimes_core.framework.runtime.plugin_calls import safe_str
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# An evaluation on a thousand Pods takes some milliseconds: this is a few seconds of them.
_LONGEST = 500

Evaluated = tuple[Evaluation, ...] | PluginError


class EvaluationQueue:
    """Evaluations that wait until no cycle needs the planner, which limits their time as that of a cycle."""

    def __init__(self, *, planner: PluginWorker, wake: Callable[[], None]) -> None:
        """wake: called when there is an evaluation, or the planner is free again."""
        self._planner = planner
        self._wake = wake
        self._waiting: deque[tuple[EvaluateWork, Callable[[Evaluated], None]]] = deque()

    def add(self, work: EvaluateWork, done: Callable[[Evaluated], None]) -> bool:
        """Queue an evaluation; False if there are too many already. done: gets what came of it."""
        if len(self._waiting) >= _LONGEST:
            return False
        self._waiting.append((work, done))
        self._wake()
        return True

    def process_next(self) -> bool:
        """Hand over the next evaluation, if the planner takes any; False if not."""
        if not self._waiting or not self._planner.free:
            return False
        work, done = self._waiting.popleft()
        self._planner.submit(work, partial(self._finished, done))
        return True

    def _finished(self, done: Callable[[Evaluated], None], result: WorkResult) -> None:
        done(result.error if isinstance(result, PluginFailure) else result)
        self._wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergentPlacement:
    """The running scheduler placed a Run where it would not be placed here."""

    run: Run
    decision: Decision
    """What was decided here, last."""
    profile: Profile
    """Whose plugins are called again."""
    pod: str
    pod_uid: str | None
    hints: tuple[Hint, ...] = ()
    contended: bool = False
    """Whether another Run, that the running scheduler did not place there, holds room on that Pod here."""

    def difference(
        self,
        kind: DifferenceKind,
        plugin: str = "",
        reason: str = "",
        detail: str | None = None,
        scores: tuple[ScorePair, ...] = (),
    ) -> Difference:
        """The difference that this placement makes. plugin: whose answer it comes from, if from one."""
        return Difference(
            run=self.run,
            kind=kind,
            ours=ours(self.decision),
            theirs=self.pod,
            plugin=plugin,
            reason=reason,
            detail=detail or "",
            scores=scores,
            hints=self.hints,
        )

    def turned_down(self, kind: DifferenceKind) -> Difference | None:
        """The same, where this Pod was tried here, and turned down after it was chosen."""
        down = self.decision.turned_down.get(self.pod)
        if down is None:
            return None
        return self.difference(kind, down.plugin or "", down.reject.reason, down.reject.detail)

    def rejected(self, kind: DifferenceKind, verdict: tuple[int, Reject]) -> Difference:
        """The same, where a filter rejects this Pod. verdict: the filter's place, and what it says."""
        placed = self
        if self.contended and Hint.FOLLOWS not in self.hints:
            placed = replace(self, hints=(*self.hints, Hint.FOLLOWS))
        place, reject = verdict
        plugin = self.profile.implementing("filter")[place].name
        return placed.difference(kind, plugin, reject.reason, reject.detail)


class PlacementComparer:
    """Compares each placement by the running scheduler with the last decision that was made here."""

    def __init__(self, *, report: DryRunReport, evaluations: EvaluationQueue, engine: Engine) -> None:
        self._report = report
        self._evaluations = evaluations
        self._engine = engine

    def compare(self, compared: ComparedRun, decision: Decision) -> None:
        """Report a Run that the running scheduler placed. decision: what was decided on it here."""
        if compared.same_pod:
            self._report.agree()
            return
        placed = DivergentPlacement(
            run=decision.run,
            decision=decision,
            profile=decision.profile or self._engine.profiles.of(decision.run.runtime),
            pod=compared.seen.assigned_pod or "",
            pod_uid=compared.seen.assigned_pod_uid,
            hints=(Hint.FOLLOWS,) if compared.follows_divergence else (),
            contended=compared.contended,
        )
        if _plugins_decided(compared, decision):
            self._evaluate(placed, compared.snapshot)
        else:
            self._report.differ(_without_plugins(placed))

    def _evaluate(self, placed: DivergentPlacement, snapshot: Snapshot) -> None:
        inputs = [EvaluationInput(run=placed.run, snapshot=snapshot)]
        decision = placed.decision
        if decision.outcome is Outcome.SCHEDULED and decision.snapshot is not None:
            inputs.append(
                EvaluationInput(
                    run=placed.run,
                    snapshot=decision.snapshot,
                    excluded=frozenset(decision.turned_down),
                    verdicts=decision.verdicts,
                )
            )
        work = EvaluateWork(profile=placed.profile, inputs=tuple(inputs))
        if not self._evaluations.add(work, partial(self._evaluated, placed)):
            why = "too many differences at a time"
            self._report.differ(placed.difference(DifferenceKind.UNEXPLAINED, detail=why))

    def _evaluated(self, placed: DivergentPlacement, found: Evaluated) -> None:
        if isinstance(found, PluginError):
            unexplained = placed.difference(DifferenceKind.UNEXPLAINED, found.plugin, detail=found.problem)
            self._report.differ(unexplained)
            return
        conclusion = _conclusion(placed, found)
        if isinstance(conclusion, NotCompared):
            self._report.skip(conclusion)
        else:
            self._report.differ(conclusion)


def _plugins_decided(compared: ComparedRun, decision: Decision) -> bool:
    """Whether plugins decided, and not the host by what the Run itself says."""
    if decision.outcome is Outcome.FAILED:
        return compared.former.invalid is None
    return decision.outcome in (Outcome.SCHEDULED, Outcome.WAITING)


def _without_plugins(placed: DivergentPlacement) -> Difference:
    """The host itself would end the Run, or hold it back."""
    decision, error = placed.decision, placed.decision.error
    ends = decision.outcome in (Outcome.FAILED, Outcome.CANCELLED)
    return placed.difference(
        DifferenceKind.PLACED_ENDED if ends else DifferenceKind.PLACED_HELD_BACK,
        error.plugin if error is not None else "",
        decision.reason,
        error.problem if error is not None else decision.message,
    )


def _conclusion(placed: DivergentPlacement, evaluations: tuple[Evaluation, ...]) -> Difference | NotCompared:
    seen, *decided = evaluations
    if placed.decision.outcome is Outcome.WAITING:
        return _placed_waiting(placed, seen)
    if placed.decision.outcome is Outcome.FAILED:
        return _placed_invalid(placed, seen)
    return _placed_elsewhere(placed, decided[0], seen)


def _placed_waiting(placed: DivergentPlacement, seen: Evaluation) -> Difference | NotCompared:
    """The Run waits here. That counts only if its Pod was rejected by what was known when it was placed."""
    turned_down = placed.turned_down(DifferenceKind.PLACED_WAITING)
    if turned_down is not None:
        return turned_down
    if seen.invalid is not None:
        return NotCompared.BEFORE
    if placed.pod not in seen.verdicts:
        return placed.difference(DifferenceKind.POD_UNKNOWN)
    verdict = seen.verdicts[placed.pod]
    return NotCompared.BEFORE if verdict is None else placed.rejected(DifferenceKind.PLACED_WAITING, verdict)


def _placed_invalid(placed: DivergentPlacement, seen: Evaluation) -> Difference | NotCompared:
    """A plugin here ended the Run as one that can never be placed, if it still says so."""
    invalid = seen.invalid
    if invalid is None:
        return NotCompared.BEFORE
    return placed.difference(DifferenceKind.PLACED_ENDED, invalid.plugin, invalid.reason, invalid.message)


def _placed_elsewhere(placed: DivergentPlacement, decided: Evaluation, seen: Evaluation) -> Difference:
    """Both placed the Run. decided, seen: by what was known when it was decided here, and placed there."""
    if seen.best == placed.pod:
        placed = replace(placed, hints=(*placed.hints, Hint.TIMING))
    decision, name = placed.decision, placed.pod
    known = decision.snapshot.pods.get(name) if decision.snapshot is not None else None
    if known is None or placed.pod_uid not in (None, known.uid):
        return placed.difference(DifferenceKind.POD_UNKNOWN)
    turned_down = placed.turned_down(DifferenceKind.POD_REJECTED)
    if turned_down is not None:
        return turned_down
    verdict = decided.verdicts.get(name)
    if verdict is not None:
        return placed.rejected(DifferenceKind.POD_REJECTED, verdict)
    return _outscored(placed, decided)


def _outscored(placed: DivergentPlacement, decided: Evaluation) -> Difference:
    chosen, other = decided.scored.get(ours(placed.decision)), decided.scored.get(placed.pod)
    scores = _score_pairs(placed.profile, chosen, other)
    if chosen is None or other is None or other.total > chosen.total:
        # The choice was made a moment before the state that is on record.
        return placed.difference(DifferenceKind.UNEXPLAINED, scores=scores)
    if other.total == chosen.total:
        return placed.difference(DifferenceKind.POD_TIED, scores=scores)
    decisive = max(scores, key=lambda pair: pair.lead)
    return placed.difference(DifferenceKind.POD_SCORED_LOWER, decisive.plugin, scores=scores)


def _score_pairs(
    profile: Profile, chosen: PodScores | None, other: PodScores | None
) -> tuple[ScorePair, ...]:
    if chosen is None or other is None:
        return ()
    return tuple(
        ScorePair(plugin.name, plugin.weight, Score(safe_str(mine), left), Score(safe_str(its), right))
        for plugin, mine, left, its, right in zip(
            profile.implementing("score"),
            chosen.raw,
            chosen.normalized,
            other.raw,
            other.normalized,
            strict=True,
        )
    )
