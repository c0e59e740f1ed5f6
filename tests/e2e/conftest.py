"""Fixtures of the tests in which the scheduler is a process on a real API server."""

from realcluster.bench import bench
from realcluster.electing import join, lease_log, traffic
from realcluster.fixtures import cluster, kubectl, namespace, service_account
from realcluster.hosts import proxy, start, work

__all__ = [
    "bench",
    "cluster",
    "join",
    "kubectl",
    "lease_log",
    "namespace",
    "proxy",
    "service_account",
    "start",
    "traffic",
    "work",
]
