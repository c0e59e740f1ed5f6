"""Decisions as the plan document says them (`kruntimes.io/plan/v1`), parts that all commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kruntimes_core.engine.cycle.work import Runners
from kruntimes_core.engine.record.decision import Decision, Outcome
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import PodScores, Verdict
from kruntimes_core.framework.runtime.calls import safe_str
from kruntimes_core.model.times import format_time

Uid = Callable[[str], str | None]
"""How a UID is shown; None for one that no object has."""


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
    """The Pods of the Runtime by name: who was rejected by what, and what each scorer gave.

    Told again from the snapshot of the decision: plugins are pure, so they say what they said then.
    A stateful plugin's answers were kept. Where a plugin breaks now, its Pods are listed without.
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
        down = decision.turned_down[name]
        plugin, reject = down.plugin, down.reject
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
