"""Two schedulers, real processes under an account with the least rights, on a real kube-apiserver."""

from __future__ import annotations

import signal
from pathlib import Path

from realcluster.access import RULES
from realcluster.electing import SHORT, Figures, Join, standby
from realcluster.fixtures import ServiceAccounts
from realcluster.leases import LeaseLog, seconds_between
from realcluster.scheduler import Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.traffic import Traffic

CLEAN_SECONDS = 1.0
CRASH_SECONDS = SHORT.lease + 2.0


def taken_over(
    what: str, bound: float, leases: LeaseLog, traffic: Traffic, next_leader: Scheduler, former: str
) -> Figures:
    """What it cost that the Lease went from one holder to the next."""
    taken = leases.wait(lambda record: record.holder not in ("", former))
    before = leases.before(taken)
    bound_at = traffic.next_bind(taken.version)
    return Figures(
        what,
        leaderless=seconds_between(before, taken),
        bound=bound,
        until_bind=bound_at - before.heard_at,
        lists=next_leader.metric("catch_up_seconds"),
    )


def test_a_clean_stop_and_then_a_kill(traffic: Traffic, join: Join, lease_log: LeaseLog) -> None:
    first, second = join(), join()
    traffic.passes(8)
    assert lease_log.transitions == 0

    former = lease_log.last.holder
    assert first.stop() == 0
    taken_over("clean stop", CLEAN_SECONDS, lease_log, traffic, second, former).check()
    first.says("released the lease")
    traffic.passes(8)
    assert lease_log.transitions == 1

    third = join()
    former = lease_log.last.holder
    second.kill()
    figures = taken_over("kill -9", CRASH_SECONDS, lease_log, traffic, third, former)
    assert figures.leaderless >= SHORT.lease
    figures.check()
    traffic.passes(8)
    traffic.settle()
    assert lease_log.transitions == 2
    assert third.metric("oversold_pods_total") == 0
    assert third.stop() == 0
    released = lease_log.wait(lambda record: record.holder == "")
    assert released.spec["leaseDurationSeconds"] == 1


def test_a_leader_that_was_stopped_for_longer_than_its_lease(
    traffic: Traffic, join: Join, lease_log: LeaseLog
) -> None:
    first, second = join(), join()
    traffic.passes(8)
    former = lease_log.last.holder
    first.send(signal.SIGSTOP)
    figures = taken_over("SIGSTOP", CRASH_SECONDS, lease_log, traffic, second, former)
    assert figures.leaderless >= SHORT.lease
    figures.check()
    first.send(signal.SIGCONT)
    first.says("not leading any more")
    standby(first)
    first.wait_until(lambda: first.metric("requests_in_flight") == 0)
    binds = first.metric("requests_total", outcome="Applied", request="bind")
    traffic.passes(8)
    assert first.metric("requests_total", outcome="Applied", request="bind") == binds
    assert [one.metric("leading") for one in (first, second)] == [0, 1]

    # It is a standby like any other.
    assert second.metric("oversold_pods_total") == 0
    assert second.stop() == 0
    first.wait_until(lambda: first.metric("deciding") == 1)
    traffic.passes(4)
    traffic.settle()
    assert first.metric("lease_terms_total") == 2
    assert first.metric("oversold_pods_total") == 0


def test_a_missing_right_on_leases_is_named(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> None:
    token = service_account(RULES).token
    where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}")
    with running_scheduler(cluster, token, tmp_path, *where, *SHORT.flags) as scheduler:
        scheduler.says_like(
            f"cannot get leases.coordination.k8s.io in {namespace}: forbidden: grant the verb"
        )
        assert "[-]lease failed: cannot get leases" in scheduler.get("probes", "/readyz")[1]
        assert scheduler.get("probes", "/livez")[0] == 200
        assert scheduler.stop() == 0
