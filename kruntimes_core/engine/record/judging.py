"""Asking the plugins again what they say to a Run: for a record, long after the cycle, or for another state.

Plugins are pure, so a decision's own snapshot gives what they said then; a later snapshot gives what
they would say by what is known now. A stateful plugin's answers of the time are kept in the decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from kruntimes_core.engine.cycle.work import Runners
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PluginFailure,
    PodScores,
    Runner,
    ScheduleResult,
    Verdict,
)
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a profile's plugins say to one Run on one snapshot."""

    best: str | None = None
    """The Pod that they choose."""
    invalid: InvalidRunResult | None = None
    """Who says that the Run can never be placed; then there are no verdicts."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Each Pod's first rejection, None if it is feasible."""
    scored: Mapping[str, PodScores] = field(default_factory=dict)
    """The scores of the feasible Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A Run, and the snapshot that it is judged by."""

    run: Run
    snapshot: Snapshot
    excluded: Set[str] = frozenset()
    """Pods that turned down a reservation."""
    verdicts: Mapping[str, Verdict] | None = None
    """Answers that were kept, because they cannot be had again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWork:
    """Work for a planner: judge several questions of one profile. It changes nothing in an engine."""

    profile: Profile
    questions: tuple[Question, ...]

    def execute(self, runners: Runners) -> tuple[Judgement, ...] | PluginFailure:
        """One judgement for each question, in order."""
        try:
            return tuple([_judged(self.profile, question) for question in self.questions])
        except PluginError as error:
            return PluginFailure(error)


def _judged(profile: Profile, question: Question) -> Judgement:
    """By a runner of its own: the tables that cycles go on from are not led back to another state."""
    runner, run, snapshot = Runner(profile), question.run, question.snapshot
    planned = runner.plan(run, snapshot, question.excluded)
    if isinstance(planned, InvalidRunResult):
        return Judgement(invalid=planned)
    verdicts, scored = runner.explain(run, snapshot, question.excluded)
    return Judgement(
        best=planned.pod.name if isinstance(planned, ScheduleResult) else None,
        verdicts=verdicts if question.verdicts is None else question.verdicts,
        scored=scored,
    )
