"""Helm's own engine on our chart: what it renders, and what it says of values. Nothing else imports it."""

from __future__ import annotations

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

    def of(self, kind: str) -> list[Object]:
        """The objects of a kind."""
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind: str) -> Object:
        """The only object of a kind."""
        (found,) = self.of(kind)
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
