"""The record that every decision leaves: kept by reference, written out as a plan document on demand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import ActivePlugin, PluginError, Profile
from kruntimes_core.framework.runtime import PodScores, Runner, Verdict
from kruntimes_core.framework.runtime.plugin_calls import safe_str
from kruntimes_core.model.bounded import MIB
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity, RuntimePod
from kruntimes_core.model.run import Request, Run, run_size
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.times import format_time


class Outcome(StrEnum):
    """`outcome` of a plan document."""

    SCHEDULED = "Scheduled"
    WAITING = "Waiting"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    BACKOFF = "Backoff"
    IGNORED = "Ignored"


@dataclass(frozen=True, slots=True)
class ReserveRejection:
    """A reservation that was refused: by the host (plugin None) or by a plugin's `reserve`."""

    plugin: str | None
    reject: Reject


NONE_TURNED_DOWN: FrozenMap[str, ReserveRejection] = FrozenMap()
"""One for all: nearly no Run is ever turned down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision. The snapshot is a reference: what it says is what was decided from."""

    run: Run
    outcome: Outcome
    reason: str
    message: str = ""
    """What `status.message` says after it."""
    pod: RuntimePod | None = None
    furthest: int = -1
    """Waiting only: how far in the order of filters the Pods got."""
    until: datetime | None = None
    profile: Profile | None = None
    snapshot: Snapshot | None = None
    turned_down: Mapping[str, ReserveRejection] = NONE_TURNED_DOWN
    """Pods that refused the reservation in this cycle, by name."""
    verdicts: Mapping[str, Verdict] | None = None
    """Where a plugin is stateful: its answers, which cannot be had again."""
    error: PluginError | None = None

    def same_answer(self, other: Decision) -> bool:
        """Whether a Run that is tried again got the same answer: then nothing was decided."""
        return self._answer() == other._answer()

    def _answer(self) -> tuple[object, ...]:
        pod = self.pod.uid if self.pod is not None else None
        return (self.outcome, self.reason, self.message, self.until, pod, self.run)


JOURNAL_BYTES = 8 * MIB
"""Of the Runs whose decisions the journal keeps."""


class Journal:
    """The latest decisions, in the order in which they were taken."""

    def __init__(self, kept: int = 1000) -> None:
        self.latest: deque[Decision] = deque()
        self.most = kept
        self._bytes = 0
        self.listeners: list[Callable[[Decision], None]] = []
        """Told of each decision at once: the planner collects them, a host logs them."""

    def note(self, former: Decision | None, decision: Decision) -> None:
        """Record a decision, unless it is the same answer. former: the one before it for the same Run."""
        if former is not None and former.same_answer(decision):
            return
        self.latest.append(decision)
        self._bytes += run_size(decision.run)
        while len(self.latest) > self.most or self._bytes > JOURNAL_BYTES:
            self._bytes -= run_size(self.latest.popleft().run)
        for listener in self.listeners:
            listener(decision)


class NeverFits:
    """Whether a waiting Run could be placed on no Pod of its Runtime, were the Pod idle.

    Many decisions are about the same Pods: the distinct capacities of those are kept.
    """

    def __init__(self) -> None:
        self._pods: Pods | None = None
        self._capacities: frozenset[Capacity] = frozenset()

    def of(self, decision: Decision) -> bool:
        """True if the Runtime has Pods, ready or not, and none advertises room for the request."""
        if decision.outcome is not Outcome.WAITING or decision.snapshot is None:
            return False
        if self._pods is not decision.snapshot.pods:
            self._pods = decision.snapshot.pods
            self._capacities = frozenset(pod.capacity for pod in self._pods.values())
        request = decision.run.request
        return bool(self._capacities) and not any(_holds(held, request) for held in self._capacities)


def _holds(capacity: Capacity, request: Request) -> bool:
    return all(amount <= capacity.get(resource, 0) for resource, amount in request.items())


# The plan document (`kruntimes.io/plan/v1`).


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


def candidates_document(decision: Decision, runner_of: Callable[[Profile], Runner]) -> list[dict[str, Any]]:
    """The Pods of the Runtime by name: which filter rejected each, and what each scorer gave.

    Where a plugin fails now, the list is empty, unless the decision kept the answers.
    """
    profile, snapshot = decision.profile, decision.snapshot
    if profile is None or snapshot is None:
        return []
    verdicts: Mapping[str, Verdict] = {}
    scored: Mapping[str, PodScores] = {}
    try:
        verdicts, scored = runner_of(profile).explain(decision.run, snapshot, frozenset(decision.turned_down))
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
