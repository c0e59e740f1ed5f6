"""Alerts and the dashboard ask for series that a scheduler has, by labels that these series have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import promql_parser
import pytest

from deployment.chart import render
from deployment.dashboard import DASHBOARD, dashboard_json
from tests.docs.pages import page

REFERENCE = page("docs/reference/metrics.md")
TARGET = frozenset({"instance", "job", "namespace"})
"""Labels that Prometheus adds to what it scrapes."""
OF_HISTOGRAM = ("_bucket", "_sum", "_count")
GRAFANA = {"$__rate_interval": "5m"}
"""What Grafana writes for a variable that stands outside of a string."""


AWAITED: Mapping[str, frozenset[str]] = {
    "kruntimes_scheduler_pending_runs": frozenset({"state"}),
    "kruntimes_scheduler_waiting_runs": frozenset({"plugin", "reason", "tier"}),
    "kruntimes_scheduler_oldest_waiting_seconds": frozenset({"tier"}),
    "kruntimes_scheduler_hook_duration_seconds": frozenset({"plugin", "hook"}),
}
"""Metrics that are asked for, and that the reference does not have yet."""


@cache
def documented() -> Mapping[str, frozenset[str]]:
    """The labels of each metric of the reference; another test compares its names with a registry."""
    found = {}
    for line in REFERENCE.text.splitlines():
        for name, labels in re.findall(r"\| `((?:kruntimes_scheduler|process)_\w+)` \| ([^|:]*)", line):
            found[name] = frozenset(re.findall(r"`(\w+)`", labels))
    return found


def labels_of(metric: str | None) -> frozenset[str]:
    """The labels of a series. Raises `LookupError` if the scheduler has none of that name."""
    if metric is None:
        raise LookupError("a selector without a name")
    known = {**AWAITED, **documented()}
    if metric in known:
        return known[metric]
    families = [metric.removesuffix(end) for end in OF_HISTOGRAM if metric.endswith(end)]
    if not any("duration" in one or "attempts" in one for one in families):
        raise LookupError(metric)
    return known[families[0]] | {"le"}


def panels() -> list[dict[str, Any]]:
    """The panels of the dashboard, without the headings of rows."""
    shown: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return [one for one in shown if one["type"] != "row"]


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression of an alert and of the dashboard, each with the name of the alert or panel."""
    (group,) = render({"prometheusRule": {"enabled": True}}).one("PrometheusRule")["spec"]["groups"]
    for rule in group["rules"]:
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def parts(expression: str) -> list[Any]:
    """Every part of an expression. Raises `ValueError` if Prometheus could not read it."""
    for variable, value in GRAFANA.items():
        expression = expression.replace(variable, value)
    found: list[Any] = []
    collect: Callable[[Any], None] = found.append
    promql_parser.walk(promql_parser.parse(expression), collect)
    return found


def problems(expression: str) -> list[str]:
    """What an expression asks for that no scheduler has."""
    found = parts(expression)
    selectors = [getattr(one, "vector_selector", one) for one in found]
    said: list[str] = []
    known = TARGET
    for one in selectors:
        if isinstance(one, promql_parser.VectorSelector):
            try:
                labels = labels_of(one.name) | TARGET
            except LookupError:
                return [f"no metric {one.name}"]
            known |= labels
            said += [
                f"{one.name} has no label {m.name}" for m in one.matchers.matchers if m.name not in labels
            ]
    modifiers = [one.modifier for one in found if isinstance(one, promql_parser.AggregateExpr)]
    grouped = {name for modifier in modifiers if modifier for name in modifier.labels}
    return said + [f"no label {name}" for name in sorted(grouped - known)]


def test_every_expression_asks_for_what_a_scheduler_has() -> None:
    found = [(name, problem) for name, expression in expressions() for problem in problems(expression)]
    assert found == []


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("sum(kruntimes_scheduler_sync)", "no metric kruntimes_scheduler_sync"),
        (
            "rate(kruntimes_scheduler_sync_total_bucket[5m])",
            "no metric kruntimes_scheduler_sync_total_bucket",
        ),
        (
            'absent(kruntimes_scheduler_deciding{tier="now"})',
            "kruntimes_scheduler_deciding has no label tier",
        ),
        ("sum by (pod_name) (rate(kruntimes_scheduler_sync_total[5m]))", "no label pod_name"),
    ],
    ids=["name", "no histogram", "matcher", "grouping"],
)
def test_a_wrong_name_is_found_wherever_it_stands(expression: str, problem: str) -> None:
    assert problems(expression) == [problem]


def test_a_metric_that_the_reference_has_is_awaited_no_longer() -> None:
    assert sorted(AWAITED.keys() & documented().keys()) == [], "remove it from AWAITED"


def test_a_label_of_a_histogram_is_known() -> None:
    metric = "kruntimes_scheduler_sync_duration_seconds"
    assert problems(f"histogram_quantile(0.5, sum by (le) (rate({metric}_bucket[5m])))") == []


def test_the_dashboard_is_what_its_generator_writes() -> None:
    assert DASHBOARD.read_text() == dashboard_json(), "run `python -m deployment`"


def test_the_chart_installs_the_dashboard_as_it_is() -> None:
    rendered = render({"dashboard": {"enabled": True}})
    (installed,) = (one for one in rendered.of("ConfigMap") if one["metadata"]["name"].endswith("-dashboard"))
    assert installed["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert installed["data"] == {"kruntimes-scheduler.json": DASHBOARD.read_text()}


def test_panels_can_be_told_apart_and_say_what_they_show() -> None:
    shown = panels()
    assert len({one["title"] for one in shown}) == len({one["id"] for one in shown}) == len(shown)
    assert all(one["description"] for one in shown)
    for one in shown:
        names = [target["refId"] for target in one["targets"]]
        assert names == ["A", "B", "C"][: len(names)]


NOT_ASKED = {
    "kruntimes_scheduler_build_info": "to look up",
    "kruntimes_scheduler_plugin_info": "to look up",
    "process_virtual_memory_bytes": "drawn as resident memory",
    "process_open_fds": "to look up",
    "process_max_fds": "to look up",
    "kruntimes_scheduler_no_pods_total": "drawn as a result of cycles",
    "kruntimes_scheduler_catch_up_seconds": "of one moment",
    "kruntimes_scheduler_sweep_rescues_total": "of a defect of the host",
    "kruntimes_scheduler_plugin_early_retries_total": "of a defect of a plugin, which the log names",
    "kruntimes_scheduler_log_lines_lost_total": "of the log",
    "kruntimes_scheduler_metrics_errors_total": "of a defect of the host",
    "kruntimes_scheduler_event_queue_length": "drawn as what became of Events",
    "kruntimes_scheduler_leading": "drawn as who decides",
    "kruntimes_scheduler_lease_requests_total": "drawn as terms",
}


def test_every_other_metric_is_drawn_or_watched() -> None:
    asked = " ".join(expression for _, expression in expressions())
    left = {name for name in documented() if name not in asked and "_dry_run_" not in name}
    assert left == NOT_ASKED.keys()
