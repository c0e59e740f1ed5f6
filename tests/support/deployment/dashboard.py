"""The scheduler's Grafana dashboard: what it shows in rows of panels, and the JSON that Grafana imports."""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableRefresh

from deployment.chart import CHART

DASHBOARD = CHART / "files" / "dashboard.json"

_HEIGHT = 7
_WIDTH = 24
"""Of a row, in the dashboard's columns."""
_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_RELEASE = 'job=~"$job",namespace=~"$namespace"'


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL expression, and the legend of its series."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph, or a number. unit: of Grafana's units."""

    title: str
    about: str
    queries: Sequence[Query]
    unit: str = "short"
    number: bool = False


def _metric(name: str, **labels: str) -> str:
    """A series of the releases that are chosen above."""
    inside = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"kruntimes_scheduler_{name}{{{_RELEASE}{inside}}}"


def _sum(name: str, *labels: str) -> Query:
    """The sum of a gauge by some labels; in the legend, they stand beside each other."""
    return Query(f"sum by ({', '.join(labels)}) ({_metric(name)})", _legend(labels))


def _rate(name: str, *labels: str) -> Query:
    """The rate of a counter by some labels."""
    return Query(f"sum by ({', '.join(labels)}) (rate({_metric(name)}[$__rate_interval]))", _legend(labels))


def _legend(labels: Sequence[str]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels) or "all"


def _quantiles(name: str, *labels: str) -> list[Query]:
    """The median, and what one of a hundred exceeds, of a histogram."""
    by = ", ".join(("le", *labels))
    rate = f"sum by ({by}) (rate({_metric(f'{name}_bucket')}[$__rate_interval]))"
    return [
        Query(f"histogram_quantile({share}, {rate})", f"{named} {_legend(labels)}".removesuffix(" all"))
        for share, named in ((0.5, "median"), (0.99, "99 %"))
    ]


_PLACEMENTS = Query(f"sum(rate({_metric('sync_total', result='scheduled')}[$__rate_interval]))", "")

ROWS: dict[str, list[Panel]] = {
    "Now": [
        Panel("Replicas that decide", "Must be 1.", [Query(f"sum({_metric('deciding')})", "")], number=True),
        Panel(
            "Waiting Runs", "Runs for which no Pod was found.", [_sum("waiting_runs", "tier")], number=True
        ),
        Panel(
            "The oldest waiting Run",
            "By tier: now, something can change; never, it fits no Pod; error, a plugin fails.",
            [
                Query(
                    f"max by (tier) ({_metric('oldest_waiting_seconds')})",
                    "{{tier}}",
                )
            ],
            unit="s",
            number=True,
        ),
        Panel("Placements", "Binds that were applied.", [_PLACEMENTS], "ops", number=True),
    ],
    "Runs": [
        Panel("Pending Runs", "By what they wait for.", [_sum("pending_runs", "state")]),
        Panel(
            "Waiting Runs by reason",
            "The reason of a class of Runs.",
            [_sum("waiting_runs", "plugin", "reason")],
        ),
        Panel(
            "Time in the queue",
            "From when a Run was first seen Pending until its bind was applied.",
            _quantiles("run_queue_duration_seconds"),
            "s",
        ),
        Panel(
            "Attempts of a placed Run",
            "How many plans it took.",
            _quantiles("run_scheduling_attempts"),
        ),
        Panel(
            "Invalid Runs",
            "Runs that ended as Failed, by reason.",
            [_rate("failed_runs_total", "reason")],
            "ops",
        ),
        Panel("Wakeups", "What woke waiting Runs.", [_rate("pending_run_wakeups_total", "source")], "ops"),
    ],
    "Decisions": [
        Panel("Cycles", "Plans by their result.", [_rate("sync_total", "result")], "ops"),
        Panel("Duration of a plan", "Of a scheduling cycle.", _quantiles("sync_duration_seconds"), "s"),
        Panel(
            "Duration of hooks",
            "The average call, by plugin and hook; sampled.",
            [
                Query(
                    f"{_rate('hook_duration_seconds_sum', 'plugin', 'hook').expr}"
                    f" / {_rate('hook_duration_seconds_count', 'plugin', 'hook').expr}",
                    _legend(("plugin", "hook")),
                )
            ],
            "s",
        ),
        Panel(
            "Rejections",
            "Pods that filters rejected.",
            [_rate("filter_rejections_total", "plugin", "reason")],
            "ops",
        ),
        Panel(
            "Errors of plugins",
            "Failed calls, and calls that have not returned.",
            [_rate("plugin_errors_total", "plugin", "hook"), _sum("plugin_stuck_calls", "plugin")],
        ),
        Panel(
            "Conflicts",
            "Placements that met a change.",
            [_rate("reservation_conflicts_total", "stage")],
            "ops",
        ),
    ],
    "API server": [
        Panel("Requests", "For single Runs.", [_rate("requests_total", "request", "outcome")], "ops"),
        Panel(
            "Requests without an answer yet",
            "Under way, and writes whose outcome is unknown.",
            [
                Query(f"sum({_metric('requests_in_flight')})", "in flight"),
                Query(f"sum({_metric('writes_outcome_unknown')})", "outcome unknown"),
            ],
        ),
        Panel(
            "Age of watches",
            "Since the API server last sent something.",
            [
                Query(
                    f"max by (resource) ({_metric('watch_event_age_seconds')})",
                    "{{resource}}",
                )
            ],
            "s",
        ),
        Panel(
            "Missing rights", "Refused by the API server.", [_sum("missing_permissions", "verb", "resource")]
        ),
        Panel("Events", "By what became of them.", [_rate("events_total", "outcome")], "ops"),
        Panel("Oversold Pods", "Pods that began to hold too much.", [_rate("oversold_pods_total")], "ops"),
    ],
    "Replicas": [
        Panel("Who decides", "1 for the replica that places Runs.", [_sum("deciding", "instance")]),
        Panel("Terms", "How often a replica began to lead.", [_rate("lease_terms_total", "instance")], "ops"),
        Panel(
            "Memory",
            "Resident.",
            [Query(f"process_resident_memory_bytes{{{_RELEASE}}}", "{{instance}}")],
            "bytes",
        ),
        Panel(
            "Processor",
            "Seconds of processor time a second.",
            [Query(f"rate(process_cpu_seconds_total{{{_RELEASE}}}[$__rate_interval])", "{{instance}}")],
        ),
    ],
}


def dashboard_json() -> str:
    """The dashboard as Grafana imports it."""
    made = (
        dashboard.Dashboard("kruntimes scheduler")
        .uid("kruntimes-scheduler")
        .tags(["kruntimes"])
        .time("now-6h", "now")
        .refresh("30s")
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_variable("namespace", "kruntimes_scheduler_deciding"))
        .with_variable(_variable("job", 'kruntimes_scheduler_deciding{namespace=~"$namespace"}'))
    )
    numbers = itertools.count(1)
    for title, panels in ROWS.items():
        made.with_row(dashboard.Row(title).id(next(numbers)))
        for panel in panels:
            width = _WIDTH // (4 if len(panels) == 4 else 3)
            made.with_panel(_drawn(panel).id(next(numbers)).span(width))
    encoded: str = JSONEncoder(sort_keys=True, indent=2).encode(made.build())
    return f"{encoded}\n"


def _variable(label: str, series: str) -> dashboard.QueryVariable:
    """A choice above the dashboard: the values of a label."""
    return (
        dashboard.QueryVariable(label)
        .label(label.capitalize())
        .datasource(_SOURCE)
        .query(f"label_values({series}, {label})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .include_all(True)
        .multi(True)
    )


def _drawn(panel: Panel) -> stat.Panel | timeseries.Panel:
    drawn = stat.Panel().reduce_options(_latest()) if panel.number else timeseries.Panel().legend(_below())
    drawn.title(panel.title).description(panel.about).datasource(_SOURCE).unit(panel.unit).height(_HEIGHT)
    for name, query in zip(string.ascii_uppercase, panel.queries, strict=False):
        target = prometheus.Dataquery().ref_id(name).expr(query.expr).legend_format(query.legend)
        drawn.with_target(target)
    return drawn


def _latest() -> common.ReduceDataOptions:
    """Of a number, the last value that is known."""
    return common.ReduceDataOptions().calcs(["lastNotNull"])


def _below() -> common.VizLegendOptions:
    """A legend below the graph."""
    return (
        common.VizLegendOptions()
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
    )
