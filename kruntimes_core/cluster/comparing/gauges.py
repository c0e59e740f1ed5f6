"""The metrics of a dry run. No label holds what a user wrote: kinds are closed, plugins are those in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from kruntimes_core.cluster.comparing.comparison import Comparison
from kruntimes_core.cluster.comparing.kinds import Kind, NotCompared
from kruntimes_core.cluster.comparing.report import Report
from kruntimes_core.cluster.observing.metrics import Metrics, Samples

BLAMED = frozenset(
    {
        Kind.POD_REJECTED,
        Kind.POD_SCORED_LOWER,
        Kind.PLACED_WAITING,
        Kind.PLACED_HELD_BACK,
        Kind.PLACED_ENDED,
        Kind.UNEXPLAINED,
    }
)
"""Kinds in which a plugin may make the difference."""


def show_comparison(metrics: Metrics, comparison: Comparison) -> None:
    """Add them; every series stands from the beginning."""
    report = comparison.report
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
        "Runs of which it cannot be told whether both would do the same, by why.",
        ("why",),
        lambda: {(why.value,): report.not_compared[why] for why in NotCompared},
    )
    metrics.gauge(
        "dry_run_held",
        "Decisions that wait for what the running scheduler does.",
        (),
        lambda: {(): comparison.held},
    )


def _differences(report: Report, plugins: Collection[str]) -> Samples:
    counts: Counter[tuple[str, ...]] = Counter(
        {(kind.value, plugin): 0 for kind in Kind for plugin in ("", *(plugins if kind in BLAMED else ()))}
    )
    for sort, number in dict(report.differences).items():
        counts[sort.kind.value, sort.plugin if sort.plugin in plugins else ""] += number
    return dict(counts)
