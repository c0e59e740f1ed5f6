"""Fixtures of the tests that need a real API server."""

import pytest

from realcluster.client import Client
from realcluster.fixtures import cluster, kubectl, namespace, service_account
from realcluster.servers import Cluster

__all__ = ["cluster", "kubectl", "namespace", "server", "service_account"]


@pytest.fixture
def server(cluster: Cluster) -> Client:
    """The server whose behaviour is looked at, as its administrator."""
    return cluster.client()
