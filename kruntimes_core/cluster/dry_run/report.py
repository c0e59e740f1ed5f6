"""Differences between two schedulers, and the report of them: as a document, as metrics and in the log."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics, Samples
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.model.run import Run, run_identity
from kruntimes_core.model.times import format_time


class DifferenceKind(StrEnum):
    """What the running scheduler did otherwise."""

    POD_REJECTED = "pod_rejected"
    """It placed the Run on a Pod that a plugin here rejected."""
    POD_SCORED_LOWER = "pod_scored_lower"
    """It placed the Run on a Pod that has a lower total here."""
    POD_TIED = "pod_tied"
    """It placed the Run on a Pod with the same total; here the smallest name is chosen."""
    POD_UNKNOWN = "pod_unknown"
    """It placed the Run on a Pod that was not known here when it was decided."""
    PLACED_WAITING = "placed_waiting"
    """It placed a Run that waits here: a plugin rejects that Pod."""
    PLACED_HELD_BACK = "placed_held_back"
    """It placed a Run that is left alone here for now: a retry delay, a backoff, a deletion."""
    PLACED_ENDED = "placed_ended"
    """It placed a Run that would be failed or cancelled here."""
    ENDED = "ended"
    """It failed or cancelled a Run that would be placed here, or wait."""
    ENDED_OTHERWISE = "ended_otherwise"
    """It failed a Run that would be cancelled here, or cancelled one that would be failed."""
    LEFT_WAITING = "left_waiting"
    """It did not place, in time, a Run that would be placed here."""
    LEFT_UNENDED = "left_unended"
    """It did not end, in time, a Run that would be failed or cancelled here."""
    UNEXPLAINED = "unexplained"
    """It placed the Run on another Pod, and calling the plugins again does not explain why."""


class Hint(StrEnum):
    """Why a difference may come from timing and not from rules."""

    TIMING = "timing"
    """By what was known when its choice was seen, the same Pod would be chosen here."""
    FOLLOWS = "follows"
    """When this Run was decided here, another Run counted on a Pod on which it was then not placed, or now
    holds the room for which a Pod is rejected: this may only follow from an earlier difference."""


class NotCompared(StrEnum):
    """Why what the running scheduler did with a Run was not compared."""

    BEFORE = "before"
    """The running scheduler was first: this one had not decided, or not again after a change."""
    LATE = "late"
    """The Run had been reported as left already."""
    CHANGED = "changed"
    """The Run changed while its decision was held, so the dry run decided again."""
    GONE = "gone"
    """The Run was deleted while its decision was held."""
    GAP = "gap"
    """This scheduler was not following the cluster at that time."""
    STOPPED = "stopped"
    """This scheduler stopped while it held a decision."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one scorer gave a Pod."""

    raw: str
    normalized: int


@dataclass(frozen=True, slots=True)
class ScorePair:
    """What one scorer gave the Pod that was chosen here, and the one that was chosen there."""

    plugin: str
    weight: int
    ours: Score
    theirs: Score

    @property
    def lead(self) -> int:
        """By how much the scorer favours the Pod that was chosen here, with its weight."""
        return (self.ours.normalized - self.theirs.normalized) * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What was done otherwise with one Run, and which plugin makes the difference."""

    run: Run
    kind: DifferenceKind
    ours: str
    """What would be done here: the name of a Pod, or `waiting`, `failed`, ..."""
    theirs: str
    """What the running scheduler did, likewise."""
    plugin: str = ""
    """Whose answer makes the difference; empty where none does."""
    reason: str = ""
    """The reason of that plugin, or of the host."""
    detail: str = ""
    scores: tuple[ScorePair, ...] = ()
    """Where scores make the difference: those of every scorer."""
    hints: tuple[Hint, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether no hint says that it may come from timing."""
        return not self.hints


def ours(decision: Decision) -> str:
    """What was decided, in one word: the name of a Pod, or the outcome."""
    if decision.outcome is Outcome.SCHEDULED and decision.pod is not None:
        return decision.pod.name
    return decision.outcome.lower()


API_VERSION = "kruntimes.io/dry-run/v1"
_KEPT = 100

BLAMED = frozenset(
    {
        DifferenceKind.POD_REJECTED,
        DifferenceKind.POD_SCORED_LOWER,
        DifferenceKind.PLACED_WAITING,
        DifferenceKind.PLACED_HELD_BACK,
        DifferenceKind.PLACED_ENDED,
        DifferenceKind.UNEXPLAINED,
    }
)
"""Kinds in which a plugin may make the difference."""


class DifferenceGroup(NamedTuple):
    """Differences that are counted together."""

    kind: DifferenceKind
    plugin: str
    reason: str


class DryRunReport:
    """Counts what was compared, and logs each difference."""

    def __init__(self, *, began: datetime, log: Log) -> None:
        """began: since when it counts."""
        self._log = log
        self.began = began
        self.agreed = 0
        """Runs with which both schedulers did the same."""
        self.not_compared: Counter[NotCompared] = Counter()
        self.differences: Counter[DifferenceGroup] = Counter()
        self.clear: Counter[DifferenceGroup] = Counter()
        """Those without a hint that they come from timing."""
        self.last: dict[DifferenceGroup, Difference] = {}
        """The latest of each group."""
        self.latest: deque[Difference] = deque(maxlen=_KEPT)

    @property
    def differed(self) -> int:
        """How many differences there are."""
        return self.differences.total()

    def agree(self) -> None:
        """Both did the same."""
        self.agreed += 1

    def skip(self, why: NotCompared) -> None:
        """Nothing was compared."""
        self.not_compared[why] += 1

    def differ(self, difference: Difference) -> None:
        """Count, keep and log a difference."""
        group = DifferenceGroup(difference.kind, difference.plugin, difference.reason)
        self.differences[group] += 1
        self.clear[group] += difference.clear
        difference = replace(
            difference, run=run_identity(difference.run)
        )  # it is kept, and the Run may be large
        self.last[group] = difference
        self.latest.append(difference)
        self._say(difference)

    def _say(self, difference: Difference) -> None:
        run = difference.run
        self._log.info(
            "the running scheduler did otherwise",
            run=f"{run.namespace}/{run.name}",
            kind=difference.kind,
            ours=difference.ours,
            theirs=difference.theirs,
            plugin=difference.plugin or None,
            reason=difference.reason or None,
            detail=difference.detail or None,
            scores=scores_line(difference.scores) or None,
            hints=",".join(difference.hints) or None,
        )


def scores_line(scores: tuple[ScorePair, ...]) -> str:
    """The scores of both Pods, ours first: `LeastLoaded 100 to 0, weight 1 (raw 1/4 to 3/4)`."""
    return "; ".join(
        f"{pair.plugin} {pair.ours.normalized} to {pair.theirs.normalized}, weight {pair.weight}"
        f" (raw {pair.ours.raw} to {pair.theirs.raw})"
        for pair in scores
    )


def report_document(report: DryRunReport, held: int, now: datetime) -> dict[str, Any]:
    """What was compared from when it began until `now`. held: decisions that are not compared yet."""
    return {
        "apiVersion": API_VERSION,
        "from": format_time(report.began),
        "to": format_time(now),
        "agreed": report.agreed,
        "differed": report.differed,
        "open": held,
        "notCompared": {why.value: report.not_compared[why] for why in NotCompared},
        "differences": [_group(report, group, number) for group, number in report.differences.most_common()],
        "latest": [_difference(one) for one in report.latest],
    }


def _group(report: DryRunReport, group: DifferenceGroup, number: int) -> dict[str, Any]:
    last = report.last[group]
    return {
        "kind": group.kind.value,
        "plugin": group.plugin or None,
        "reason": group.reason or None,
        "count": number,
        "clear": report.clear[group],
        "last": {
            "namespace": last.run.namespace,
            "run": last.run.name,
            "ours": last.ours,
            "theirs": last.theirs,
        },
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "namespace": one.run.namespace,
        "run": one.run.name,
        "uid": one.run.uid,
        "runtime": one.run.runtime,
        "kind": one.kind.value,
        "ours": one.ours,
        "theirs": one.theirs,
        "plugin": one.plugin or None,
        "reason": one.reason or None,
        "detail": one.detail or None,
        "scores": {
            pair.plugin: {
                "weight": pair.weight,
                "ours": _score(pair.ours),
                "theirs": _score(pair.theirs),
            }
            for pair in one.scores
        },
        "hints": [hint.value for hint in one.hints],
    }


def _score(score: Score) -> dict[str, Any]:
    return {"raw": score.raw, "normalized": score.normalized}


def register_dry_run_metrics(metrics: Metrics, report: DryRunReport, held: Callable[[], int]) -> None:
    """Add the metrics of a dry run; every series exists from the beginning.

    No label holds what a user wrote: kinds are a closed set, plugins are those in use.
    held: how many decisions are not compared yet.
    """
    metrics.counter(
        "dry_run_agreements",
        "Runs with which the running scheduler did what would be done here.",
        (),
        lambda: {(): report.agreed},
    )
    metrics.counter(
        "dry_run_differences",
        "Runs with which the running scheduler did otherwise, by how, and by the plugin that makes it.",
        ("kind", "plugin"),
        lambda: _differences(report, metrics.plugins.keys()),
    )
    metrics.counter(
        "dry_run_not_compared",
        "Runs for which both schedulers could not be compared, by why.",
        ("why",),
        lambda: {(why.value,): report.not_compared[why] for why in NotCompared},
    )
    metrics.gauge(
        "dry_run_held",
        "Decisions that wait for what the running scheduler does.",
        (),
        lambda: {(): held()},
    )


def _differences(report: DryRunReport, plugins: Collection[str]) -> Samples:
    counts: Counter[tuple[str, ...]] = Counter(
        {
            (kind.value, plugin): 0
            for kind in DifferenceKind
            for plugin in ("", *(plugins if kind in BLAMED else ()))
        }
    )
    for group, number in dict(report.differences).items():
        counts[group.kind.value, group.plugin if group.plugin in plugins else ""] += number
    return dict(counts)
