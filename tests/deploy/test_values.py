"""Values are explained, and a mistake in them is told with its path before anything is installed."""

import re
from typing import Any

import pytest
import yaml

from deployment.chart import CHART, ChartError, lint, render
from deployment.meaning import meaning
from deployment.schema import complete_schema, documented_values, paths_of, written_schema
from tests.docs.pages import page, rows

DIGEST = "sha256:" + "0" * 64


def test_every_value_is_explained_and_checked() -> None:
    explained = [value.path for value in documented_values()]
    assert explained == list(paths_of(written_schema()))


def test_the_reference_says_what_the_values_say() -> None:
    reference = page("docs/reference/chart.md")
    said = [tuple(row) for row in rows(reference.section("Values"))]
    assert said == [
        (
            value.path,
            yaml.safe_dump(value.default, default_flow_style=True).removesuffix("...\n").strip(),
            value.comment.replace("`", ""),
        )
        for value in documented_values()
    ]


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
    assert kept.one("ConfigMap") == render().one("ConfigMap")
    assert "resources" not in kept.pod["spec"]["containers"][0]


def test_the_chart_is_of_this_host() -> None:
    from kruntimes_core import __version__

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
