"""Helm's own engine on our chart: what it renders, what it says of values, and its releases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import helm_python
import yaml

from kruntimes_core.model.yaml_files import load_documents

Values = Mapping[str, Any]
Object = dict[str, Any]

DEPLOY = Path(__file__).parents[3] / "deploy"
CHART = DEPLOY / "chart"
RELEASE = "kruntimes-scheduler"
NAMESPACE = "kruntimes-system"
_WARNING = 2


class ChartError(Exception):
    """Helm cannot render the chart with these values: its own words."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What Helm makes of the chart: the text of each template by its name, without empty ones."""

    texts: Mapping[str, str]

    @property
    def objects(self) -> list[Object]:
        """The objects, in the order of the templates' names."""
        files = sorted(name for name in self.texts if name.endswith(".yaml"))
        return [one for name in files for one in objects_in(self.texts[name], name)]

    @property
    def notes(self) -> str:
        """What Helm prints after an installation."""
        return self.texts["NOTES.txt"]

    @property
    def installed(self) -> list[Object]:
        """The objects without what only `helm test` makes."""
        return [one for one in self.objects if not is_test(one)]

    def of(self, kind: str) -> list[Object]:
        """The objects of a kind."""
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind: str) -> Object:
        """The only object of a kind."""
        (found,) = self.of(kind)
        return found

    @property
    def files(self) -> Mapping[str, str]:
        """What the host finds in /etc/kruntimes, by file name."""
        name = next(one["configMap"]["name"] for one in self.pod["spec"]["volumes"] if "configMap" in one)
        found: Mapping[str, str]
        (found,) = (one["data"] for one in self.of("ConfigMap") if one["metadata"]["name"] == name)
        return found

    @property
    def pod(self) -> Object:
        """The Pod that the Deployment makes: metadata and spec."""
        template: Object = self.one("Deployment")["spec"]["template"]
        return template


def render(values: Values | None = None, *, release: str = RELEASE, namespace: str = NAMESPACE) -> Rendered:
    """What `helm template` gives for these values. Raises `ChartError`."""
    try:
        with helm_python.Chart.load(CHART) as chart:
            texts = chart.render(dict(values or {}), name=release, namespace=namespace)
    except helm_python.HelmError as error:
        raise ChartError(str(error)) from error
    return Rendered({name.rpartition("/")[2]: text for name, text in texts.items() if text.strip()})


def is_test(one: Object) -> bool:
    """Whether an object is made by `helm test`, not by an installation."""
    annotations: Mapping[str, str] = one["metadata"].get("annotations", {})
    return annotations.get("helm.sh/hook") == "test"


def objects_in(text: str, source: str) -> list[Object]:
    """The objects of a manifest. source: what errors call it, and a key that stands twice is one."""
    found = []
    for _, document in load_documents(text, source):
        assert isinstance(document, dict), source
        found.append(document)
    return found


def lint(values: Values) -> list[str]:
    """What `helm lint --strict` complains of; advice is left out."""
    report = helm_python.lint(CHART, dict(values), strict=True, namespace=NAMESPACE)
    found = [one["error"] for one in report["messages"] if one["severity"] >= _WARNING]
    return [*found, *report["errors"]]


def value_sets() -> dict[str, Values]:
    """The defaults, and the values in the chart's folder `ci`, by name."""
    files = sorted((CHART / "ci").glob("*-values.yaml"))
    sets = {path.name.removesuffix("-values.yaml"): yaml.safe_load(path.read_text()) for path in files}
    return {"default": {}, **sets}


MANIFESTS = DEPLOY / "manifests"
HELM_TEST = "test.yaml"
"""The template of what `helm test` makes: no part of an installation."""
BY_HAND = frozenset({"namespace.yaml", "kustomization.yaml"})
"""What no chart makes: Helm makes the namespace itself."""

# True of a release alone.
_OF_HELM = re.compile(r"^ *(app\.kubernetes\.io/managed-by|helm\.sh/chart): .*\n", re.MULTILINE)


def plain_manifests() -> dict[str, str]:
    """The text of each file by its name: what the default values give, without what Helm says of itself."""
    texts = render().texts
    return {
        name: _OF_HELM.sub("", text.strip() + "\n")
        for name, text in texts.items()
        if name.endswith(".yaml") and name != HELM_TEST
    }


def alert_rules() -> str:
    """The alerts of a release with the default values, as a file for Prometheus' `rule_files`."""
    rule = render({"prometheusRule": {"enabled": True}}).one("PrometheusRule")
    head = "# Written by `python -m deployment`: the chart's alerts, for a Prometheus without the operator.\n"
    return head + yaml.safe_dump(rule["spec"], sort_keys=False, width=120)


class Release:
    """The release of our chart in one namespace. Nothing is waited for: no Pod runs on a test's cluster."""

    def __init__(self, kubeconfig: Path, namespace: str, name: str = RELEASE) -> None:
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._name = name

    @property
    def exists(self) -> bool:
        """Whether it was installed."""
        with self._config() as helm:
            return any(one["name"] == self._name for one in helm.list())

    def install(self, values: Values, *, create_namespace: bool = False) -> str:
        """`helm install`; gives the manifest of what was installed."""
        with self._config() as helm:
            made = helm.install(CHART, self._name, dict(values), create_namespace=create_namespace)
            return str(made["manifest"])

    def upgrade(self, values: Values) -> str:
        """`helm upgrade`; gives the manifest."""
        with self._config() as helm:
            return str(helm.upgrade(CHART, self._name, dict(values))["manifest"])

    def uninstall(self) -> None:
        """`helm uninstall`."""
        with self._config() as helm:
            helm.uninstall(self._name)

    def _config(self) -> helm_python.Config:
        return helm_python.Config(kubeconfig_path=self._kubeconfig, namespace=self._namespace)
