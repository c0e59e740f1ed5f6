"""Two schedulers, real processes under an account with the least rights, on a real kube-apiserver."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from realcluster.client import Resource
from realcluster.fixtures import ServiceAccounts
from realcluster.scheduler import RULES, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, in_phase

LEASES = Resource("coordination.k8s.io", "v1", "leases")
LEASE = "kruntimes-scheduler.kruntimes.com"
LEASE_SECONDS = 4
ELECTION = (
    "--leader-elect",
    f"--leader-elect-lease-duration={LEASE_SECONDS}s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=500ms",
)
RIGHTS = [
    *RULES,
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
]
SLACK_SECONDS = 3.0
"""For a machine that runs the API server and all else beside: what is promised is promised on a quiet one."""

Join = Callable[[], Scheduler]


@pytest.fixture
def join(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> Iterator[Join]:
    """Start one more scheduler of the same account."""
    token = service_account(RIGHTS).token
    numbers = count()
    with ExitStack() as running:

        def started() -> Scheduler:
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}")
            return running.enter_context(running_scheduler(cluster, token, folder, *where, *ELECTION))

        yield started


@pytest.fixture
def pods(work: Workload) -> list[str]:
    """Two Pods; what is bound to them, and by whom, the ledger of `work` checks at the end."""
    names = ["py-0", "py-1"]
    for name in names:
        work.pod(name, runs=3)
    return names


def spec(work: Workload) -> dict[str, Any]:
    found: dict[str, Any] = work.client.get(LEASES, LEASE, work.namespace).body["spec"]
    return found


def moment(line: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(line["time"])


def scheduled(work: Workload, count: int) -> list[str]:
    """The Runs that are placed, once there are so many."""
    return in_phase(work.wait(lambda now: len(in_phase(now, "Scheduled")) == count), "Scheduled")


def work_off(work: Workload, prefix: str, count: int) -> None:
    """Let Runs come, and end each once it is placed."""
    for number in range(count):
        work.run(f"{prefix}-{number:02}")
    ended = 0
    while ended < count:
        names = in_phase(work.wait(lambda now: bool(in_phase(now, "Scheduled"))), "Scheduled")
        work.end(names)
        ended += len(names)


def standby(scheduler: Scheduler) -> None:
    """Wait until it stands by, ready and warm."""
    scheduler.says("following")
    scheduler.wait_until(lambda: "[+]lease ok: standby" in scheduler.get("probes", "/readyz?verbose")[1])
    scheduler.wait_until(lambda: scheduler.get("probes", "/readyz")[0] == 200)


@pytest.mark.usefixtures("pods")
def test_a_clean_stop_and_then_a_kill(work: Workload, join: Join) -> None:
    first = join()
    first.says("deciding")
    second = join()
    standby(second)
    work_off(work, "a", 8)
    assert spec(work)["leaseTransitions"] == 0

    for number in range(6):
        work.run(f"b-{number}")
    assert first.stop() == 0
    leading, released = second.says("leading"), first.says("released the lease")
    assert (moment(leading) - moment(released)).total_seconds() < 1 + SLACK_SECONDS
    second.says("deciding")
    work.end(scheduled(work, 6))
    work_off(work, "c", 4)
    assert spec(work)["leaseTransitions"] == 1

    third = join()
    standby(third)
    last_renewed = spec(work)["renewTime"]
    second.kill()
    leading = third.says("leading")
    waited = (moment(leading) - datetime.fromisoformat(last_renewed)).total_seconds()
    assert LEASE_SECONDS <= waited < LEASE_SECONDS + 2 + 0.5 + SLACK_SECONDS
    work_off(work, "d", 8)
    assert spec(work)["leaseTransitions"] == 2
    assert third.metric("oversold_pods_total") == 0
    assert third.stop() == 0
    assert (spec(work)["holderIdentity"], spec(work)["leaseDurationSeconds"]) == ("", 1)


@pytest.mark.usefixtures("pods")
def test_a_leader_that_was_stopped_for_longer_than_its_lease(work: Workload, join: Join) -> None:
    first = join()
    first.says("deciding")
    second = join()
    standby(second)
    work_off(work, "a", 4)
    # Stopped before the answer to a bind, it would wake up in doubt about that one.
    first.wait_until(lambda: first.metric("requests_total", outcome="Applied", request="bind") == 4)
    first.send(signal.SIGSTOP)
    for number in range(6):
        work.run(f"b-{number}")
    second.says("leading")
    names = scheduled(work, 6)
    for number in range(3):
        work.run(f"c-{number}")
    first.send(signal.SIGCONT)
    first.says("not leading any more")
    standby(first)
    binds = first.metric("requests_total", outcome="Applied", request="bind")
    work.end(names)
    work.end(scheduled(work, 3))
    assert first.metric("requests_total", outcome="Applied", request="bind") == binds == 4
    assert [one.metric("leading") for one in (first, second)] == [0, 1]
    assert first.metric("oversold_pods_total") == second.metric("oversold_pods_total") == 0

    # It is a standby like any other.
    assert second.stop() == 0
    first.wait_until(lambda: first.metric("deciding") == 1)
    work_off(work, "d", 3)
    assert first.metric("lease_terms_total") == 2


def test_a_missing_right_on_leases_is_named(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> None:
    token = service_account(RULES).token
    where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}")
    with running_scheduler(cluster, token, tmp_path, *where, *ELECTION) as scheduler:
        scheduler.says_like(f"cannot get leases.coordination.k8s.io in {namespace}: forbidden: grant the verb")
        assert "[-]lease failed: cannot get leases" in scheduler.get("probes", "/readyz")[1]
        assert scheduler.get("probes", "/livez")[0] == 200
        assert scheduler.stop() == 0
