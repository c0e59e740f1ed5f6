"""Fixtures for tests of several schedulers of which one leads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from realcluster.access import ELECTING_RULES, RULES
from realcluster.fixtures import ServiceAccounts
from realcluster.leases import LeaseLog, lease_log_of
from realcluster.scheduler import Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.traffic import Traffic, traffic_in
from realcluster.workload import Workload

__all__ = ["Join", "LeaseLog", "Traffic", "join", "lease_log", "traffic"]


@dataclass(frozen=True)
class Election:
    """The durations of an election, in seconds."""

    lease: float = 4
    deadline: float = 2
    retry: float = 0.5

    @property
    def flags(self) -> tuple[str, ...]:
        """As the command takes them."""
        durations = {
            "lease-duration": self.lease,
            "renew-deadline": self.deadline,
            "retry-period": self.retry,
        }
        return ("--leader-elect", *(f"--leader-elect-{name}={value}s" for name, value in durations.items()))


SHORT = Election()
"""Ends soon, so that a test does not wait long for the next leader."""
LONG = Election(lease=40, deadline=30, retry=0.5)
"""Outlasts a restart of the servers, even on a machine that does ten things at once."""

SLACK_SECONDS = 3.0
"""For a machine that runs the API server and all else beside: what is promised is promised on a quiet one."""


@dataclass(frozen=True)
class Figures:
    """What an incident cost, in seconds."""

    what: str
    leaderless: float
    """For how long nobody held the Lease, by what its records say."""
    bound: float
    """For how long that may be, on a quiet machine (semantics, Leading)."""
    until_bind: float
    """From the beginning of that time until the next bind, by what the watches said."""
    lists: float = 0.0
    """How much of that went by for the lists of the new leader, where it is not within the bound."""

    def check(self) -> None:
        """Show them, for `pytest -rP`, and hold them to the bound."""
        lists = f", {self.lists:.2f} s of them for the lists" if self.lists else ""
        print(  # noqa: T201
            f"{self.what}: {self.leaderless:.2f} s without a leader, of {self.bound:g} s at most;"
            f" {self.until_bind:.2f} s until the next bind{lists}"
        )
        assert self.leaderless <= self.bound + SLACK_SECONDS, self
        assert self.until_bind - self.lists <= self.bound + SLACK_SECONDS, self


class Join(Protocol):
    """What the fixture `join` gives."""

    def __call__(self, election: Election = SHORT, *, beside: bool | None = None) -> Scheduler:
        """One more scheduler of the test's namespace, once it leads or stands by.

        beside: whether somebody else leads; by default, whether this is not the first one.
        """


@pytest.fixture
def join(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> Iterator[Join]:
    """Start schedulers of one account; they are gone after the test."""
    token = service_account([*RULES, *ELECTING_RULES]).token
    numbers = count()
    with ExitStack() as running:

        def started(election: Election = SHORT, *, beside: bool | None = None) -> Scheduler:
            number = next(numbers)
            folder = tmp_path / str(number)
            folder.mkdir()
            where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}")
            scheduler = running.enter_context(
                running_scheduler(cluster, token, folder, *where, *election.flags)
            )
            if beside or (beside is None and number):
                standby(scheduler)
            else:
                scheduler.says("deciding")
            return scheduler

        yield started


@pytest.fixture
def lease_log(cluster: Cluster, namespace: str) -> Iterator[LeaseLog]:
    """The Lease of the test's namespace, from its beginning."""
    with lease_log_of(cluster.client(), namespace) as log:
        yield log


@pytest.fixture
def traffic(cluster: Cluster, work: Workload) -> Iterator[Traffic]:
    """Two Pods, and Runs that come, are bound to them and end: more than there is room for at a time."""
    for name in ("py-0", "py-1"):
        work.pod(name, runs=3)
    with traffic_in(cluster.client(), work.namespace, work.ledger) as traffic:
        yield traffic


def standby(scheduler: Scheduler) -> None:
    """Wait until it stands by, ready and warm."""
    scheduler.says("following")
    scheduler.wait_until(lambda: "[+]lease ok: standby" in scheduler.get("probes", "/readyz?verbose")[1])
    scheduler.wait_until(lambda: scheduler.get("probes", "/readyz")[0] == 200)
