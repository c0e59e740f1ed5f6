"""API server and store are killed, started again and frozen under two schedulers, while Runs come and go."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import pytest

from realcluster.client import RUNS
from realcluster.electing import LONG, SHORT, Figures, Join
from realcluster.leases import LeaseLog, seconds_between
from realcluster.scheduler import Scheduler
from realcluster.servers import Cluster
from realcluster.traffic import Traffic

Away = Callable[[Cluster], AbstractContextManager[None]]

LONGEST_PAUSE_SECONDS = 4.0
"""Between two tries to list or watch (reference, kruntimes scheduler)."""
CRASH_SECONDS = SHORT.lease + 2.0
MOST_LINES = 40
"""What a scheduler may log of one outage: each of what is wrong, when it begins, changes and ends."""


def came_back(
    what: str, cluster: Cluster, fault: float, traffic: Traffic, leases: LeaseLog, bound: float
) -> Figures:
    """What it cost that a server was away since `fault`, beside the time that it was away."""
    cluster.wait_until_ready()
    back = time.monotonic()
    bound_at = traffic.next_bind(cluster.version_of(RUNS))
    leases.wait(lambda record: record.heard_at > back)
    return Figures(
        f"{what}, away for {back - fault:.1f} s",
        leaderless=max(seconds_between(*leases.longest_silence(fault)) - (back - fault), 0.0),
        bound=bound,
        until_bind=bound_at - back,
    )


def is_ready(host: Scheduler) -> bool:
    return host.get("probes", "/readyz") == (200, "ok\n")


def misses_the_lease(host: Scheduler) -> bool:
    return "[-]lease failed: cannot" in host.get("probes", "/readyz")[1]


def outlasted(hosts: list[Scheduler], lines: list[int]) -> None:
    """Both are as they were, and have not said more than there was to say."""
    for host, before in zip(hosts, lines, strict=True):
        host.wait_until(partial(is_ready, host))
        assert host.get("probes", "/livez")[0] == 200
        assert len(host.lines) - before <= MOST_LINES, host.lines[before:]
        assert host.metric("oversold_pods_total") == 0
        assert host.metric("sweep_rescues_total") == 0


@pytest.mark.parametrize("server", ["kube-apiserver", "etcd"])
def test_a_server_that_is_started_again_at_once_costs_nobody_the_lease(
    cluster: Cluster, traffic: Traffic, join: Join, lease_log: LeaseLog, server: str
) -> None:
    hosts = [join(LONG), join(LONG)]
    traffic.passes(8)
    holder, lines = lease_log.last.holder, [len(host.lines) for host in hosts]
    fault = time.monotonic()
    with (cluster.server if server == "kube-apiserver" else cluster.etcd).killed():
        pass
    bound = LONG.retry + LONGEST_PAUSE_SECONDS
    figures = came_back(f"{server} restarted", cluster, fault, traffic, lease_log, bound)
    figures.check()
    traffic.passes(8)
    traffic.settle()
    outlasted(hosts, lines)
    assert (lease_log.transitions, lease_log.last.holder) == (0, holder)
    assert [host.metric("lease_terms_total") for host in hosts] == [1, 0]


AWAY: dict[str, Away] = {
    "kube-apiserver killed": lambda cluster: cluster.server.killed(),
    "etcd killed": lambda cluster: cluster.etcd.killed(),
    "etcd frozen": lambda cluster: cluster.etcd.frozen(),
}


@pytest.mark.parametrize("away", AWAY.values(), ids=AWAY)
def test_servers_that_are_away_for_longer_than_the_lease(
    cluster: Cluster,
    traffic: Traffic,
    join: Join,
    lease_log: LeaseLog,
    away: Away,
    request: pytest.FixtureRequest,
) -> None:
    hosts = [join(), join()]
    traffic.passes(8)
    lines = [len(host.lines) for host in hosts]
    fault = time.monotonic()
    with away(cluster):
        hosts[0].says("not leading any more")
        for host in hosts:
            host.wait_until(partial(misses_the_lease, host))
            host.wait_until(lambda: time.monotonic() - lease_log.last.heard_at > SHORT.lease)
            assert host.get("probes", "/livez")[0] == 200
    what = request.node.callspec.id
    figures = came_back(what, cluster, fault, traffic, lease_log, CRASH_SECONDS)
    figures.check()
    traffic.passes(8)
    traffic.settle()
    outlasted(hosts, lines)
    assert sum(host.metric("leading") for host in hosts) == 1
    assert sum(host.metric("lease_terms_total") for host in hosts) == 2
