"""Fixtures for tests in which the scheduler is a process: a namespace to work in, and ways to start it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from faultproxy.proxy import FaultProxy, fault_proxy
from realcluster.access import RULES
from realcluster.fixtures import ServiceAccounts
from realcluster.scheduler import COMMAND, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, workload_in

__all__ = ["Start", "proxy", "start", "work"]


class Start(Protocol):
    """What the fixture `start` gives."""

    def __call__(
        self, by: FaultProxy | None = None, *, token: str | None = None, program: Sequence[str] = (COMMAND,)
    ) -> Scheduler:
        """A scheduler of the test's namespace that decides, with the rights of the contract alone.

        by: the proxy through which it reaches the API server. token: of its account, else a new one is
        made. program: what is started.
        """


@pytest.fixture
def work(cluster: Cluster, namespace: str) -> Iterator[Workload]:
    """The test's namespace; at its end, what must always hold must have held after every event."""
    with workload_in(cluster.client(), namespace) as work:
        yield work


@pytest.fixture
def proxy(cluster: Cluster, tmp_path: Path) -> Iterator[FaultProxy]:
    """A proxy in front of the API server."""
    with fault_proxy(cluster, tmp_path) as proxy:
        yield proxy


@pytest.fixture
def start(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> Iterator[Start]:
    """Start schedulers; they are gone after the test."""
    with ExitStack() as running:

        def start(
            by: FaultProxy | None = None, *, token: str | None = None, program: Sequence[str] = (COMMAND,)
        ) -> Scheduler:
            bearer, reached = token or service_account(RULES).token, by.cluster if by is not None else cluster
            scheduler = running.enter_context(
                running_scheduler(reached, bearer, tmp_path, f"--namespaces={namespace}", program=program)
            )
            scheduler.says("deciding")
            return scheduler

        yield start
