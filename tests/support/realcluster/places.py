"""A fixture for tests of the scheduler on every API server that there is: a real one, and the embedded one.

One scheduler for all tests of a module: it follows all namespaces, and each test has its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from embedded.place import HOST, embedded_place
from realcluster.access import RULES, make_namespace, make_service_account
from realcluster.client import Client, Reachable
from realcluster.scheduler import Scheduler, running_scheduler
from realcluster.workload import Workload, workload_in

__all__ = ["place", "work"]


@dataclass(frozen=True)
class Place:
    """A server, an administrator's client of it, and a scheduler that decides there."""

    client: Client
    scheduler: Scheduler


@pytest.fixture(scope="module", params=["real", "embedded"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server with a scheduler of all its namespaces, which has the rights of the contract alone."""
    folder = tmp_path_factory.mktemp("scheduler")
    with ExitStack() as running:
        server: Reachable
        if request.param == "real":
            server = cluster = request.getfixturevalue("cluster")
            namespace = make_namespace(cluster.client())
            token = make_service_account(cluster, namespace, RULES, cluster_wide=True).token
        else:
            server, token = running.enter_context(embedded_place(RULES)), HOST
        scheduler = running.enter_context(running_scheduler(server, token, folder))
        scheduler.says("deciding")
        yield Place(server.client(), scheduler)


@pytest.fixture
def work(place: Place) -> Iterator[Workload]:
    """The test's namespace; at its end, what must always hold must have held after every event."""
    with workload_in(place.client, make_namespace(place.client)) as work:
        yield work
