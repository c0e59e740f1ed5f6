"""Helm's own installation, upgrade and removal of our chart on a cluster."""

from __future__ import annotations

from pathlib import Path

import helm_python

from deployment.chart import CHART, RELEASE, Values


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
