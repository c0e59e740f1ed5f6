"""Pytest fixtures; a `conftest.py` imports those that its tests use.

Each test process (each worker of pytest-xdist) has its own pair of servers: started when the first test
asks for it, and gone with the process, however that ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Protocol

import pytest

from kruntimes_core.crds import crds
from realcluster.access import Rule, ServiceAccount, install_crds, make_namespace, make_service_account
from realcluster.assets import ETCD, KUBE_APISERVER, KUBECTL, AssetsError, Tool, require
from realcluster.servers import Cluster, running_cluster

__all__ = ["ServiceAccounts", "cluster", "kubectl", "namespace", "service_account"]


class ServiceAccounts(Protocol):
    """What the fixture `service_account` gives."""

    def __call__(self, rules: Sequence[Rule], *, cluster_wide: bool = False) -> ServiceAccount:
        """A ServiceAccount of the test's namespace with these rights."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A real API server with our CRDs; its logs stay in pytest's temporary folder."""
    _need(ETCD, KUBE_APISERVER)
    with running_cluster(tmp_path_factory.mktemp("cluster")) as started:
        install_crds(started, crds())
        yield started


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """A namespace that no other test uses."""
    return make_namespace(cluster.client())


@pytest.fixture
def service_account(cluster: Cluster, namespace: str) -> ServiceAccounts:
    """Make ServiceAccounts in the test's namespace."""

    def make(rules: Sequence[Rule], *, cluster_wide: bool = False) -> ServiceAccount:
        return make_service_account(cluster, namespace, rules, cluster_wide=cluster_wide)

    return make


@pytest.fixture(scope="session")
def kubectl() -> str:
    """The path of a real kubectl."""
    _need(KUBECTL)
    return str(require(KUBECTL))


def _need(*tools: Tool) -> None:
    try:
        for tool in tools:
            require(tool)
    except AssetsError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
