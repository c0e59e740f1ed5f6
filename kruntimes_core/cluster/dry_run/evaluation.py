"""Why the running scheduler chose another Pod: the plugins are called again, and what they say is judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from kruntimes_core.cluster.dry_run.report import (
    Difference,
    DifferenceKind,
    DryRunReport,
    Hint,
    NotCompared,
    Score,
    ScorePair,
    ours,
)
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.plugin_work import EvaluateWork, Evaluation, EvaluationInput, WorkResult
from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import PluginError, Profile
from kruntimes_core.framework.runtime import PluginFailure, PodScores
from kruntimes_core.framework.runtime.plugin_calls import safe_str
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# An evaluation on a thousand Pods takes some milliseconds, so this is a few seconds of work.
_LONGEST = 500

Evaluated = tuple[Evaluation, ...] | PluginError


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergentPlacement:
    """The running scheduler placed a Run where it would not be placed here."""

    run: Run
    decision: Decision
    """What was decided here, last."""
    decided_by_plugins: bool
    """Whether plugins decided; else the host did, by the Run alone."""
    profile: Profile
    """Its plugins are called again."""
    pod: str
    pod_uid: str | None
    hints: tuple[Hint, ...]
    snapshot: Snapshot
    """What was known when the running scheduler's choice was observed."""
    contended: bool
    """Whether another Run, not placed there by the running scheduler, holds room on that Pod here."""

    def work(self) -> EvaluateWork:
        """Evaluate by what was known when the choice was observed, and by what the decision here knew."""
        inputs = [EvaluationInput(run=self.run, snapshot=self.snapshot)]
        decision = self.decision
        if decision.outcome is Outcome.SCHEDULED and decision.snapshot is not None:
            inputs.append(
                EvaluationInput(
                    run=self.run,
                    snapshot=decision.snapshot,
                    excluded=frozenset(decision.turned_down),
                    verdicts=decision.verdicts,
                )
            )
        return EvaluateWork(profile=self.profile, inputs=tuple(inputs))

    def difference(
        self,
        kind: DifferenceKind,
        plugin: str = "",
        reason: str = "",
        detail: str | None = None,
        scores: tuple[ScorePair, ...] = (),
    ) -> Difference:
        """Make a difference of this placement. plugin: the plugin that causes it, if one does."""
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
        """The difference if this Pod was chosen here and turned down in `reserve`; None if it was not."""
        down = self.decision.turned_down.get(self.pod)
        if down is None:
            return None
        return self.difference(kind, down.plugin or "", down.reject.reason, down.reject.detail)

    def rejected(self, kind: DifferenceKind, verdict: tuple[int, Reject]) -> Difference:
        """The difference if a filter rejects this Pod. verdict: the filter's index, and its rejection."""
        placed = self
        if self.contended and Hint.FOLLOWS not in self.hints:
            placed = replace(self, hints=(*self.hints, Hint.FOLLOWS))
        place, reject = verdict
        plugin = self.profile.implementing("filter")[place].name
        return placed.difference(kind, plugin, reject.reason, reject.detail)


class PlacementEvaluator:
    """Reports why a Run would not be placed here where the running scheduler placed it.

    Evaluations wait until no cycle needs the plugin worker; they have the time limit of a plan.
    """

    def __init__(
        self, *, report: DryRunReport, plugin_worker: PluginWorker, wake: Callable[[], None]
    ) -> None:
        """wake: called when there is an evaluation, or the plugin worker is free again."""
        self._report = report
        self._plugin_worker = plugin_worker
        self._wake = wake
        self._waiting: deque[DivergentPlacement] = deque()

    def explain(self, placed: DivergentPlacement) -> None:
        """Report at once if the host alone decided here, else when the plugins have been called again."""
        if not placed.decided_by_plugins:
            self._report.differ(_decided_by_host(placed))
        elif len(self._waiting) >= _LONGEST:
            why = "too many differences at a time"
            self._report.differ(placed.difference(DifferenceKind.UNEXPLAINED, detail=why))
        else:
            self._waiting.append(placed)
            self._wake()

    def process_next(self) -> bool:
        """Hand over the next evaluation, if the plugin worker is free; False if not."""
        if not self._waiting or not self._plugin_worker.free:
            return False
        placed = self._waiting.popleft()
        self._plugin_worker.submit(placed.work(), partial(self._finished, placed))
        return True

    def _finished(self, placed: DivergentPlacement, result: WorkResult) -> None:
        self._evaluated(placed, result.error if isinstance(result, PluginFailure) else result)
        self._wake()

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


def _decided_by_host(placed: DivergentPlacement) -> Difference:
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
    """The Run waits here. It is a difference if the Pod was still rejected when the placement was seen."""
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
    """A plugin here failed the Run as invalid. It is a difference if the plugin still does."""
    invalid = seen.invalid
    if invalid is None:
        return NotCompared.BEFORE
    return placed.difference(DifferenceKind.PLACED_ENDED, invalid.plugin, invalid.reason, invalid.message)


def _placed_elsewhere(placed: DivergentPlacement, decided: Evaluation, seen: Evaluation) -> Difference:
    """Both placed the Run. decided, seen: by the snapshot of the decision, and of the observation."""
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
        # The choice was made a moment before the snapshot on record, or a plugin answers otherwise now.
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
