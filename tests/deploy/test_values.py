"""Values are explained, and a mistake in them is told with its path before anything is installed."""

import re
from typing import Any

import pytest
import yaml

from deployment.chart import CHART, ChartError, lint, render
from deployment.meaning import meaning
from deployment.readme import README, REFERENCE, readme, reference
from deployment.schema import complete_schema, documented_values, paths_of, written_schema
from tests.docs.pages import Page, first_column

DIGEST = "sha256:" + "0" * 64


def test_every_value_is_explained_and_checked() -> None:
    explained = [value.path for value in documented_values()]
    assert explained == list(paths_of(written_schema()))


def test_the_readme_and_the_reference_say_what_the_values_say() -> None:
    assert README.read_text() == readme(), "run `python -m deployment`"
    assert REFERENCE.read_text() == reference(), "run `python -m deployment`"
    assert first_column(Page(README).section("Values")) == [value.path for value in documented_values()]


def test_the_schema_knows_the_configuration_of_this_host() -> None:
    """By what it means: another version of pydantic may say the same in other words."""
    assert meaning(written_schema()) == meaning(complete_schema()), "run `python -m deployment`"


def test_the_schema_is_closed_wherever_names_are_ours() -> None:
    def check(schema: dict[str, Any]) -> None:
        if "properties" in schema:
            assert schema["additionalProperties"] is False
            for below in schema["properties"].values():
                check(below)

    check(written_schema())


def test_helm_has_nothing_against_it(values: dict[str, Any]) -> None:
    assert lint(values) == []


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"replica": 3}, r"at '': additional properties 'replica' not allowed"),
        ({"replicas": "two"}, r"at '/replicas': got string, want integer"),
        ({"replicas": -1}, r"at '/replicas': minimum"),
        ({"image": {"digest": "sha256:abc"}}, r"at '/image/digest'"),
        ({"image": {"repository": f"registry.example.com/x@{DIGEST}"}}, r"at '/image/repository'"),
        ({"namespaces": ["Team"]}, r"at '/namespaces/0'"),
        ({"leaderElection": {"leaseDuration": 15}}, r"at '/leaderElection/leaseDuration'"),
        ({"config": {"plugins": {"enabld": []}}}, r"at '/config/plugins'.*'enabld'"),
        ({"config": {"heartbeatStalenessSeconds": 0}}, r"at '/config/heartbeatStalenessSeconds'"),
        ({"config": {"profiles": [{"name": "a"}]}}, r"at '/config/profiles/0'.*'runtimes'"),
        ({"networkPolicy": {"apiServerPorts": [0]}}, r"at '/networkPolicy/apiServerPorts/0'"),
        ({"podLabels": {"runtime": "py"}}, r"at '/podLabels/runtime'"),
        ({"podLabels": {"app.kubernetes.io/name": "x"}}, r"at '/podLabels/app.kubernetes.io~1name'"),
        ({"env": [{"name": "POD_NAMESPACE", "value": "x"}]}, r"at '/env/0/name'"),
        ({"metrics": {"port": 70000}}, r"at '/metrics/port'"),
        ({"commonLabels": {"runtime": "py"}}, r"at '/commonLabels/runtime'"),
        ({"commonLabels": {"helm.sh/chart": "x"}}, r"at '/commonLabels/helm.sh~1chart'"),
        ({"extraObjects": [7]}, r"at '/extraObjects/0'"),
        ({"extraVolumes": [{"name": "plugins", "emptyDir": {}}]}, r"at '/extraVolumes/0/name'"),
        ({"extraVolumeMounts": [{"name": "a"}]}, r"at '/extraVolumeMounts/0'.*'mountPath'"),
        ({"revisionHistoryLimit": -1}, r"at '/revisionHistoryLimit'"),
        ({"livenessProbe": {"httpGet": {}}}, r"at '/livenessProbe'.*'httpGet'"),
        ({"readinessProbe": {"periodSeconds": 0}}, r"at '/readinessProbe/periodSeconds'"),
        ({"podSecurityContext": []}, r"at '/podSecurityContext'"),
        ({"serviceMonitor": {"scrapeTimeout": "10"}}, r"at '/serviceMonitor/scrapeTimeout'"),
        (
            {"serviceMonitor": {"relabelings": [{"action": "move"}]}},
            r"at '/serviceMonitor/relabelings/0/action'",
        ),
        ({"prometheusRule": {"disabled": ["KruntimesSchedulerRestart"]}}, r"at '/prometheusRule/disabled/0'"),
        ({"prometheusRule": {"matchers": "job"}}, r"at '/prometheusRule/matchers'"),
        ({"prometheusRule": {"runbookUrl": "docs"}}, r"at '/prometheusRule/runbookUrl'"),
        ({"prometheusRule": {"oldestWaitingSeconds": {"later": 1}}}, r"at '/prometheusRule/oldestW.*'later'"),
        ({"prometheusRule": {"oldestWaitingSeconds": {"now": None}}}, r"at '/prometheusRule/oldestW.*'now'"),
        ({"prometheusRule": {"oldestWaitingSeconds": None}}, r"at '/prometheusRule'.*'oldestWaitingSeconds'"),
        ({"rbac": {"aggregateClusterRoles": "yes"}}, r"at '/rbac/aggregateClusterRoles'"),
    ],
    ids=str,
)
def test_a_wrong_value_is_told_by_its_path(wrong: dict[str, Any], where: str) -> None:
    with pytest.raises(ChartError, match=where):
        render(wrong)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"leaderElection": {"enabled": False}}, "replicas: more than one needs leaderElection.enabled"),
        (
            {"plugins": {"requirements": "a==1", "volume": {"emptyDir": {}}}},
            "plugins.volume: not together with plugins.requirements",
        ),
        ({"plugins": {"wheelhouse": {"emptyDir": {}}}}, "plugins.wheelhouse: plugins.requirements must say"),
        (
            {"serviceMonitor": {"interval": "30s", "scrapeTimeout": "1m"}},
            "serviceMonitor.scrapeTimeout: 1m is longer than serviceMonitor.interval, 30s",
        ),
    ],
    ids=str,
)
def test_values_that_contradict_each_other_are_refused(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(ChartError, match=re.escape(problem)):
        render(wrong)


def test_a_larger_chart_may_hand_on_its_global_values() -> None:
    assert render({"global": {"imageRegistry": "x"}}).objects == render().objects


def test_a_value_may_be_taken_away() -> None:
    kept = render({"config": None, "resources": None, "affinity": None, "plugins": {"volume": None}})
    assert kept.files == render().files
    assert "resources" not in kept.pod["spec"]["containers"][0]


def test_the_chart_is_of_this_host() -> None:
    from kruntimes_core import __version__

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
