"""The report of a dry run as a document (`kruntimes.io/dry-run/v1`)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kruntimes_core.cluster.comparing.difference import Difference, Score
from kruntimes_core.cluster.comparing.kinds import NotCompared
from kruntimes_core.cluster.comparing.report import Report, Sort
from kruntimes_core.model.times import format_time

API_VERSION = "kruntimes.io/dry-run/v1"


def report_document(report: Report, held: int, now: datetime) -> dict[str, Any]:
    """What was compared from when it began until `now`. held: decisions that are not compared yet."""
    return {
        "apiVersion": API_VERSION,
        "from": format_time(report.began),
        "to": format_time(now),
        "agreed": report.agreed,
        "differed": report.differed,
        "open": held,
        "notCompared": {why.value: report.not_compared[why] for why in NotCompared},
        "differences": [_sort(report, sort, number) for sort, number in report.differences.most_common()],
        "latest": [_difference(one) for one in report.latest],
    }


def _sort(report: Report, sort: Sort, number: int) -> dict[str, Any]:
    last = report.last[sort]
    return {
        "kind": sort.kind.value,
        "plugin": sort.plugin or None,
        "reason": sort.reason or None,
        "count": number,
        "clear": report.clear[sort],
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
