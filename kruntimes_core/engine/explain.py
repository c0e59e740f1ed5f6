"""Explaining decisions: what the plugins answer for each Pod, called again long after the cycle.

Plugins are pure, so a decision's own snapshot gives what they answered then; a later snapshot gives what
they would answer by what is known now. A stateful plugin's answers are kept in the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.plugin_work import Runners
from kruntimes_core.framework.profile import ActivePlugin, PluginError, Profile
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PluginFailure,
    PodScores,
    Runner,
    ScheduleResult,
    Verdict,
)
from kruntimes_core.framework.runtime.plugin_calls import safe_str
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.times import format_time

Uid = Callable[[str], str | None]
"""How a UID is shown; None for one that no object has."""


# The parts of the plan document (`kruntimes.io/plan/v1`) that all commands share.


def plugin_document(plugin: ActivePlugin) -> dict[str, Any]:
    """One active plugin."""
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "weight": plugin.weight,
    }


def decision_document(decision: Decision, uid: Uid, never: bool) -> dict[str, Any]:
    """One decision, without its candidates."""
    run, pod = decision.run, decision.pod
    scheduled = pod is not None and decision.outcome is Outcome.SCHEDULED
    until = decision.until if decision.outcome is Outcome.BACKOFF else None
    return {
        "namespace": run.namespace,
        "run": run.name,
        "uid": uid(run.uid),
        "runtime": run.runtime,
        "outcome": decision.outcome.value,
        "pod": pod.name if pod and scheduled else None,
        "podUID": uid(pod.uid) if pod and scheduled else None,
        "reason": decision.reason,
        "message": decision.message,
        "never": never,
        "until": format_time(until) if until is not None else None,
    }


def candidates_document(decision: Decision, runners: Runners) -> list[dict[str, Any]]:
    """The Pods of the Runtime by name: which filter rejected each, and what each scorer gave.

    Where a plugin breaks now, its Pods are listed without.
    """
    profile, snapshot = decision.profile, decision.snapshot
    if profile is None or snapshot is None:
        return []
    verdicts: Mapping[str, Verdict] = {}
    scored: Mapping[str, PodScores] = {}
    try:
        runner = runners.of(profile)
        verdicts, scored = runner.explain(decision.run, snapshot, frozenset(decision.turned_down))
    except PluginError:
        if decision.verdicts is None:
            return []
    verdicts = decision.verdicts if decision.verdicts is not None else verdicts
    chosen = decision.pod.name if decision.pod is not None else None
    return [
        _candidate(name, chosen, verdicts[name], scored.get(name), decision, profile)
        for name in sorted(verdicts)
    ]


def _candidate(
    name: str,
    chosen: str | None,
    verdict: Verdict,
    scored: PodScores | None,
    decision: Decision,
    profile: Profile,
) -> dict[str, Any]:
    plugin: str | None = None
    reject = None
    if verdict is not None:
        place, reject = verdict
        plugin = profile.implementing("filter")[place].name
    elif name in decision.turned_down:
        refused = decision.turned_down[name]
        plugin, reject = refused.plugin, refused.reject
    word = "rejected" if reject is not None else "chosen" if name == chosen else "feasible"
    return {
        "pod": name,
        "verdict": word,
        "plugin": plugin,
        "reason": reject.reason if reject is not None else None,
        "detail": reject.detail if reject is not None else None,
        "scores": _scores(scored, profile) if scored is not None else {},
        "total": scored.total if scored is not None else None,
    }


def _scores(scored: PodScores, profile: Profile) -> dict[str, dict[str, Any]]:
    return {
        plugin.name: {"raw": safe_str(raw), "normalized": normalized, "weight": plugin.weight}
        for plugin, raw, normalized in zip(
            profile.implementing("score"), scored.raw, scored.normalized, strict=True
        )
    }


# Evaluating a Run on a snapshot, without a cycle.


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a profile's plugins answer for one Run on one snapshot."""

    best: str | None = None
    """The Pod that they choose."""
    invalid: InvalidRunResult | None = None
    """The plugin that says that the Run can never be placed; then there are no verdicts."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Each Pod's first rejection, None if it is feasible."""
    scored: Mapping[str, PodScores] = field(default_factory=dict)
    """The scores of the feasible Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationInput:
    """A Run, and the snapshot that it is evaluated on."""

    run: Run
    snapshot: Snapshot
    excluded: Set[str] = frozenset()
    """Pods that turned down a reservation."""
    verdicts: Mapping[str, Verdict] | None = None
    """Answers that were kept, because they cannot be had again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateWork:
    """Work for a driver: evaluate several inputs by one profile. It changes nothing in an engine."""

    profile: Profile
    inputs: tuple[EvaluationInput, ...]

    def execute(self, runners: Runners) -> tuple[Evaluation, ...] | PluginFailure:
        """One evaluation for each input, in order."""
        try:
            return tuple([_evaluate(self.profile, each) for each in self.inputs])
        except PluginError as error:
            return PluginFailure(error)


def _evaluate(profile: Profile, given: EvaluationInput) -> Evaluation:
    """By a runner of its own: the result cache of the cycles is not led back to another snapshot."""
    runner, run, snapshot = Runner(profile), given.run, given.snapshot
    planned = runner.plan(run, snapshot, given.excluded)
    if isinstance(planned, InvalidRunResult):
        return Evaluation(invalid=planned)
    verdicts, scored = runner.explain(run, snapshot, given.excluded)
    return Evaluation(
        best=planned.pod.name if isinstance(planned, ScheduleResult) else None,
        verdicts=verdicts if given.verdicts is None else given.verdicts,
        scored=scored,
    )
