"""Fixtures of the tests in which the scheduler is a process on a real API server."""

from realcluster.fixtures import cluster, kubectl, namespace, service_account
from realcluster.hosts import proxy, start, work

__all__ = ["cluster", "kubectl", "namespace", "proxy", "service_account", "start", "work"]
