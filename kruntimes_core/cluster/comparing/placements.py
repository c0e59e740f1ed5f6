"""Runs that the running scheduler placed: the same, or not, and then the plugins are asked why."""

from __future__ import annotations

from functools import partial

from kruntimes_core.cluster.comparing import concluding
from kruntimes_core.cluster.comparing.asking import Answer, Asking
from kruntimes_core.cluster.comparing.concluding import Placement
from kruntimes_core.cluster.comparing.difference import Difference
from kruntimes_core.cluster.comparing.kinds import Hint, Kind, NotCompared
from kruntimes_core.cluster.comparing.report import Report
from kruntimes_core.cluster.comparing.sighting import Look, Sighting
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.explain import EvaluateWork, Evaluation, EvaluationInput
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.model.snapshot import Snapshot


class Placements:
    """Compares them, each with the last decision that was made here."""

    def __init__(self, report: Report, asking: Asking, engine: Engine) -> None:
        self._report = report
        self._asking = asking
        self._engine = engine

    def compare(self, look: Look, decision: Decision) -> None:
        """look: at a Run that the running scheduler placed. decision: what was decided on it here."""
        sighting = look.sighting
        if sighting.same_pod:
            self._report.agree()
            return
        placed = Placement(
            run=decision.run,
            decision=decision,
            profile=decision.profile or self._engine.profiles.of(decision.run.runtime),
            pod=sighting.seen.assigned_pod or "",
            pod_uid=sighting.seen.assigned_pod_uid,
            hints=(Hint.FOLLOWS,) if look.misled else (),
            crowded=look.crowded,
        )
        if _plugins_decided(sighting, decision):
            self._ask(placed, look.snapshot)
        else:
            self._report.differ(_at_once(placed))

    def _ask(self, placed: Placement, snapshot: Snapshot) -> None:
        questions = [EvaluationInput(run=placed.run, snapshot=snapshot)]
        decision = placed.decision
        if decision.outcome is Outcome.SCHEDULED and decision.snapshot is not None:
            questions.append(
                EvaluationInput(
                    run=placed.run,
                    snapshot=decision.snapshot,
                    excluded=frozenset(decision.turned_down),
                    verdicts=decision.verdicts,
                )
            )
        work = EvaluateWork(profile=placed.profile, inputs=tuple(questions))
        if not self._asking.ask(work, partial(self._answered, placed)):
            self._report.differ(concluding.unexplained(placed, why="too many differences at a time"))

    def _answered(self, placed: Placement, answer: Answer) -> None:
        if isinstance(answer, PluginError):
            self._report.differ(concluding.unexplained(placed, answer.plugin, answer.problem))
            return
        conclusion = _concluded(placed, answer)
        if isinstance(conclusion, NotCompared):
            self._report.skip(conclusion)
        else:
            self._report.differ(conclusion)


def _plugins_decided(sighting: Sighting, decision: Decision) -> bool:
    """Whether it was plugins that said so, and not the host by what the Run itself says."""
    if decision.outcome is Outcome.FAILED:
        return sighting.former.invalid is None
    return decision.outcome in (Outcome.SCHEDULED, Outcome.WAITING)


def _concluded(placed: Placement, judgements: tuple[Evaluation, ...]) -> Difference | NotCompared:
    seen, *decided = judgements
    if placed.decision.outcome is Outcome.WAITING:
        return concluding.while_waiting(placed, seen)
    if placed.decision.outcome is Outcome.FAILED:
        return concluding.though_invalid(placed, seen)
    return concluding.on_another_pod(placed, decided[0], seen)


def _at_once(placed: Placement) -> Difference:
    """What needs no question: the host itself would end it, or hold it back."""
    decision = placed.decision
    ends = decision.outcome in (Outcome.FAILED, Outcome.CANCELLED)
    error = decision.error
    return Difference(
        run=placed.run,
        kind=Kind.PLACED_ENDED if ends else Kind.PLACED_HELD_BACK,
        ours=concluding.ours(decision),
        theirs=placed.pod,
        plugin=error.plugin if error is not None else "",
        reason=decision.reason,
        detail=error.problem if error is not None else decision.message,
        hints=placed.hints,
    )
