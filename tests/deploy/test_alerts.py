"""Each alert fires on series made for it, and no other does; none fires while all is well or heals."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployment.chart import DEPLOY, Object, alert_rules, render
from tests.docs.pages import page, rows

ENABLED = {"prometheusRule": {"enabled": True}}
OPERATOR = page("docs/how-to/monitor.md")
RUNBOOKS = DEPLOY.parent / "docs" / "runbooks"
PREFIX = "KruntimesScheduler"

TARGET = {"job": "kruntimes-scheduler", "namespace": "kruntimes-system"}
MINUTES = 120
"""How long the made series are; two samples a minute, as with the chart's interval."""

Series = dict[str, str]


def rules(values: Mapping[str, Any] | None = None) -> list[Object]:
    """The alerts that the chart renders; without values, those of a release with the defaults."""
    return _default_rules() if values is None else _rules(values)


@cache
def _default_rules() -> list[Object]:
    return _rules({})


def _rules(values: Mapping[str, Any]) -> list[Object]:
    (group,) = render({**ENABLED, **values}).one("PrometheusRule")["spec"]["groups"]
    found: list[Object] = group["rules"]
    return found


def sample(metric: str, instance: str = "a", **labels: str) -> str:
    """The name of a series of one replica of the release."""
    prefix = "" if metric.startswith("process_") else "kruntimes_scheduler_"
    return _name(prefix + metric, {**TARGET, "instance": instance, **labels})


def _name(metric: str, labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{metric}{{{inside}}}"


HEALTHY: Series = {
    sample("deciding"): "1x240",
    sample("deciding", "b"): "0x240",
    sample("oldest_waiting_seconds", tier="now"): "3000x240",
    sample("oldest_waiting_seconds", tier="never"): "0x240",
    sample("oldest_waiting_seconds", tier="error"): "0x240",
    sample("waiting_runs", plugin="A", reason="InsufficientCapacity", tier="now"): "40x240",
    sample("waiting_runs", plugin="A", reason="HeartbeatStale", tier="now"): "0x240",
    sample("plugin_errors_total", plugin="A", hook="filter"): "7x240",
    sample("plugin_stuck_calls", plugin="A"): "0x240",
    sample("writes_outcome_unknown"): "0x240",
    sample("reservation_conflicts_total", stage="bind"): "3x240",
    sample("reservation_conflicts_total", stage="reserve"): "0x240",
    sample("sync_total", result="scheduled"): "0+100x240",
    sample("requests_total", request="bind", outcome="Applied"): "0+100x240",
    sample("requests_total", request="bind", outcome="OutcomeUnknown"): "2x240",
    sample("watch_following", resource="runs.kruntimes.io"): "1x240",
    sample("watch_following", "b", resource="runs.kruntimes.io"): "1x240",
    sample("missing_permissions", verb="patch", resource="events.events.k8s.io"): "0x240",
    sample("process_start_time_seconds"): "1000x240",
    sample("process_start_time_seconds", "b"): "1000x240",
}
"""A busy scheduler: Runs wait, a plugin failed yesterday, an answer was lost."""

BREAKS: dict[str, tuple[str, Series, Mapping[str, str]]] = {
    "no replica leads": ("NobodyDecides", {sample("deciding"): "0x240"}, {"severity": "critical"}),
    "no replica is scraped": (
        "NobodyDecides",
        {sample("deciding"): "stale", sample("deciding", "b"): "stale"},
        {"severity": "critical"},
    ),
    "both replicas lead": ("TwoDecide", {sample("deciding", "b"): "1x240"}, {"severity": "critical"}),
    "another release decides": (
        "TwoDecide",
        {_name("kruntimes_scheduler_deciding", {"job": "other", "namespace": "other"}): "1x240"},
        {"severity": "critical"},
    ),
    "a Run waits for room for more than an hour": (
        "RunsWaitTooLong",
        {sample("oldest_waiting_seconds", tier="now"): "0+30x240"},
        {"severity": "warning", "tier": "now"},
    ),
    "a Run waits for a broken plugin": (
        "RunsWaitTooLong",
        {sample("oldest_waiting_seconds", tier="error"): "400x240"},
        {"severity": "critical", "tier": "error"},
    ),
    "a Run is too large": (
        "RunsNeverFit",
        {sample("oldest_waiting_seconds", tier="never"): "1000x240"},
        {"severity": "warning", "tier": "never"},
    ),
    "no runtimed reports": (
        "HeartbeatsStale",
        {sample("waiting_runs", plugin="A", reason="HeartbeatStale", tier="now"): "1x240"},
        {"severity": "critical"},
    ),
    "a plugin raises once in five minutes": (
        "PluginErrors",
        {sample("plugin_errors_total", plugin="A", hook="filter"): " ".join(f"{n}x9" for n in range(24))},
        {"severity": "warning", "plugin": "A", "hook": "filter"},
    ),
    "a call of a plugin hangs": (
        "PluginStuck",
        {sample("plugin_stuck_calls", plugin="A"): "1x240"},
        {"severity": "critical", "plugin": "A"},
    ),
    "a write without an answer is not settled": (
        "WritesInDoubt",
        {sample("writes_outcome_unknown"): "1x240"},
        {"severity": "warning"},
    ),
    "another client writes what is bound": (
        "Conflicts",
        {sample("reservation_conflicts_total", stage="bind"): "0+20x240"},
        {"severity": "warning"},
    ),
    "every placement meets a conflict": (
        "Conflicts",
        {
            sample("reservation_conflicts_total", stage="reserve"): "0+1x240",
            sample("sync_total", result="scheduled"): "0x240",
        },
        {"severity": "warning"},
    ),
    "one of ten requests gets no answer": (
        "ApiErrors",
        {sample("requests_total", request="bind", outcome="OutcomeUnknown"): "0+10x240"},
        {"severity": "warning"},
    ),
    "no request gets an answer": (
        "ApiErrors",
        {
            sample("requests_total", request="bind", outcome="Applied"): "5x240",
            sample("requests_total", request="bind", outcome="OutcomeUnknown"): "0+1x240",
        },
        {"severity": "warning"},
    ),
    "a standby cannot watch": (
        "WatchStopped",
        {sample("watch_following", "b", resource="runs.kruntimes.io"): "0x240"},
        {"severity": "critical", "resource": "runs.kruntimes.io"},
    ),
    "a right is refused": (
        "MissingPermissions",
        {sample("missing_permissions", verb="patch", resource="events.events.k8s.io"): "1x240"},
        {"severity": "warning", "verb": "patch", "resource": "events.events.k8s.io"},
    ),
    "a replica starts every ten minutes": (
        "Restarts",
        {sample("process_start_time_seconds", "b"): " ".join(f"{1000 + 600 * n}x19" for n in range(12))},
        {"severity": "warning"},
    ),
}
"""The alert, the series that differ from healthy ones, and what labels the alert has beside its name."""

HEALS: dict[str, Series] = {
    "nothing is wrong": {},
    "nothing waits, and the gauges of waiting are not there": {
        name: "stale" for name in HEALTHY if "waiting" in name
    },
    "a handover that a scrape saw from both sides": {
        sample("deciding"): "1x119 1x1 0x120",
        sample("deciding", "b"): "0x119 1x121",
    },
    "a minute without a leader": {sample("deciding"): "1x230 0x2 1x9"},
    "a dry run decides beside": {
        _name(f"kruntimes_scheduler_{metric}", {"job": "next", "namespace": "x", "instance": "c"}): "1x240"
        for metric in ("deciding", "dry_run_held")
    },
    "a rollout starts both replicas anew": {
        sample("process_start_time_seconds"): "1000x200 7000x40",
        sample("process_start_time_seconds", "b"): "1000x204 7100x36",
    },
    "a call of a plugin returns late": {sample("plugin_stuck_calls", plugin="A"): "0x200 1x1 0x39"},
    "a write is settled after two minutes": {sample("writes_outcome_unknown"): "0x232 1x4 0x4"},
    "an outage of a minute": {
        sample("requests_total", request="bind", outcome="OutcomeUnknown"): "2x231 30x9",
        sample("watch_following", resource="runs.kruntimes.io"): "1x236 0x2 1x2",
    },
    "one conflict of twenty placements": {
        sample("reservation_conflicts_total", stage="bind"): "0+5x240",
    },
}


def samples(values: str) -> str:
    """As promtool writes them; a series that is not there has no sample."""
    return "_x240" if values == "stale" else values


def case(name: str, broken: Series, fires: Mapping[str, str] | None) -> Object:
    """A test of promtool: what ever fired in two hours of these series, by labels that tell alerts apart."""
    series = {**HEALTHY, **broken}
    expected = [] if fires is None else [{"labels": _name("", fires), "value": 1}]
    fired = f'max_over_time(ALERTS{{alertstate="firing"}}[{MINUTES}m])'
    told_by = "alertname, severity, tier, plugin, hook, verb, resource"
    return {
        "name": name,
        "interval": "30s",
        "input_series": [{"series": key, "values": samples(values)} for key, values in series.items()],
        "promql_expr_test": [
            {
                # promtool shows the expression, and with it the comment, where something else fires.
                "expr": f"group by ({told_by}) ({fired}) # {name}",
                "eval_time": f"{MINUTES}m",
                "exp_samples": expected,
            }
        ],
    }


@pytest.fixture
def promtool(tmp_path: Path) -> Any:
    """Run promtool's tests of the rendered rules; without tests, it checks the rules."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip(
            "promtool is missing (`apt-get install prometheus`): the alerts were rendered, but not evaluated"
        )

    def run(*cases: Object, values: Mapping[str, Any] | None = None) -> None:
        (tmp_path / "rules.yaml").write_text(
            yaml.safe_dump({"groups": [{"name": "rules", "rules": rules(values)}]})
        )
        tests = {"rule_files": ["rules.yaml"], "evaluation_interval": "30s", "tests": list(cases)}
        (tmp_path / "tests.yaml").write_text(json.dumps(tests))
        arguments = (
            ["test", "rules", "tests.yaml"] if cases else ["check", "rules", "--lint-fatal", "rules.yaml"]
        )
        command = [program, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("namespaces", [[], ["team-a"]], ids=["everywhere", "in one namespace"])
def test_prometheus_takes_the_rules(promtool: Any, namespaces: list[str]) -> None:
    promtool(values={"namespaces": namespaces})


def test_an_alert_fires_on_what_it_is_about_and_no_other_does(promtool: Any) -> None:
    promtool(
        *(
            case(name, broken, {"alertname": PREFIX + alert, **labels})
            for name, (alert, broken, labels) in BREAKS.items()
        )
    )


def test_no_alert_fires_on_what_is_well_or_heals(promtool: Any) -> None:
    promtool(*(case(name, series, None) for name, series in HEALS.items()))


OWN = 'namespace="kruntimes-system"'


@pytest.mark.parametrize(
    "scope",
    [{"namespaces": ["team-a"]}, {"prometheusRule": {"enabled": True, "matchers": OWN}}],
    ids=["some namespaces", "matchers"],
)
def test_another_scheduler_is_no_alert_where_it_may_decide(promtool: Any, scope: dict[str, Any]) -> None:
    _, another, _ = BREAKS["another release decides"]
    alert, both, labels = BREAKS["both replicas lead"]
    promtool(
        case("another", another, None),
        case("both", both, {"alertname": PREFIX + alert, **labels}),
        values=scope,
    )


def test_an_alert_says_what_is_wrong_in_words(promtool: Any) -> None:
    _, broken, labels = BREAKS["a Run waits for a broken plugin"]
    rule = next(
        one for one in rules() if one["labels"] == {"severity": "critical"} and "error" in one["expr"]
    )
    said = {**rule["annotations"], "summary": "A Run has waited for 6m 40s because a plugin fails."}
    expected = {"exp_labels": {**TARGET, **labels}, "exp_annotations": said}
    words = {"alertname": rule["alert"], "eval_time": f"{MINUTES}m", "exp_alerts": [expected]}
    promtool({**case("words", broken, {"alertname": rule["alert"], **labels}), "alert_rule_test": [words]})


def test_every_alert_has_a_series_that_it_fires_on() -> None:
    assert {PREFIX + alert for alert, *_ in BREAKS.values()} == {rule["alert"] for rule in rules()}


def test_every_alert_has_a_runbook_and_a_row_that_says_so() -> None:
    severities: dict[str, list[str]] = {}
    for rule in rules():
        severities.setdefault(rule["alert"], []).append(rule["labels"]["severity"])
    said = [row[:2] for row in rows(OPERATOR.section("The alerts"))]
    assert said == [[alert, " or ".join(found)] for alert, found in severities.items()]
    for rule in rules():
        runbook = page(rule["annotations"]["runbook"])
        assert runbook.text.startswith(f"# {rule['alert']}\n\n<!-- ")
        assert runbook.blocks[0].language == "bash"
    assert {rule["annotations"]["runbook"] for rule in rules()} == {
        path.relative_to(DEPLOY.parent).as_posix() for path in RUNBOOKS.glob("*.md")
    }


def test_alerts_are_routed_linked_and_left_out_as_asked() -> None:
    asked = {
        "enabled": True,
        "labels": {"release": "prometheus"},
        "alertLabels": {"team": "runs", "severity": "page"},
        "runbookUrl": "https://docs.example.com/runbooks/",
        "disabled": [f"{PREFIX}Restarts"],
        "matchers": 'cluster="a",app=~"k.*"',
        "oldestWaitingSeconds": {"now": 60},
    }
    rule = render({"prometheusRule": asked}).one("PrometheusRule")
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    (group,) = rule["spec"]["groups"]
    found = {one["alert"]: one for one in group["rules"]}
    assert found.keys() == {one["alert"] for one in rules()} - {f"{PREFIX}Restarts"}
    assert all(one["labels"]["team"] == "runs" for one in group["rules"])
    assert all(one["labels"]["severity"] in ("warning", "critical") for one in group["rules"])
    nobody = found[f"{PREFIX}NobodyDecides"]
    assert nobody["annotations"]["runbook_url"] == "https://docs.example.com/runbooks/nobody-decides/"
    assert 'kruntimes_scheduler_deciding{cluster="a",app=~"k.*"}' in nobody["expr"]
    waits = [one["expr"] for one in group["rules"] if one["alert"] == f"{PREFIX}RunsWaitTooLong"]
    assert [expr.rpartition("> ")[2] for expr in waits] == ["60", "300"]


def test_a_dry_run_wakes_nobody() -> None:
    assert render({**ENABLED, "dryRun": True}).of("PrometheusRule") == []


def test_the_file_without_the_operator_has_the_same_alerts() -> None:
    assert (DEPLOY / "monitoring" / "alerts.yaml").read_text() == alert_rules(), "run `python -m deployment`"
    (group,) = yaml.safe_load(alert_rules())["groups"]
    assert group["rules"] == rules()
