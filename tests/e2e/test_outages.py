"""Outages of a real API server, of the way to it, and of rights: shown while they last, and outlasted."""

from __future__ import annotations

import pytest

from faultproxy.faults import Fault, Match, Reply, refusal
from faultproxy.proxy import FaultProxy
from realcluster.access import RULES, change_rules
from realcluster.client import PODS, Client
from realcluster.fixtures import ServiceAccounts
from realcluster.hosts import Start
from realcluster.scheduler import IMPATIENT
from realcluster.servers import Cluster
from realcluster.workload import Workload, placed


@pytest.mark.parametrize("watching", ["runs", "pods", None])
def test_connections_that_fell_silent_are_given_up(
    work: Workload, proxy: FaultProxy, start: Start, watching: str | None
) -> None:
    work.pod("py-0", ready=False)
    start(by=proxy, program=IMPATIENT)
    proxy.black_hole(watching)
    work.run("r")
    work.beat("py-0")
    assert work.wait_for("r", placed, seconds=15)["assignedPod"] == "py-0"


def test_a_bind_on_a_connection_that_fell_silent_is_settled(
    work: Workload, proxy: FaultProxy, start: Start
) -> None:
    bind = proxy.disturb(Match("patch", "runs"), Fault(holds_request=True))
    work.pod("py-0", runs=1)
    work.run("r1")
    scheduler = start(by=proxy, program=IMPATIENT)
    bind.hit()
    proxy.black_hole()
    work.run("r2")
    work.wait_for("r1", placed, seconds=20)
    work.end(["r1"])
    work.wait_for("r2", placed)
    assert scheduler.metric("requests_total", request="bind", outcome="OutcomeUnknown") == 1


def _overloaded(proxy: FaultProxy, verb: str, plural: str, *replies: Reply) -> None:
    for reply in replies:
        proxy.disturb(Match(verb, plural), Fault(forwarded=False, answer=reply))


def test_an_overloaded_server_is_shown_and_outlasted(work: Workload, proxy: FaultProxy, start: Start) -> None:
    work.pod("py-0")
    scheduler = start(by=proxy)
    busy, down = refusal(429, "TooManyRequests", Retry_After="1"), refusal(503, "ServiceUnavailable")
    _overloaded(proxy, "watch", "runs", refusal(410, "Expired"))
    _overloaded(proxy, "list", "runs", busy, down, busy)
    _overloaded(proxy, "watch", "pods", *[refusal(500, "InternalError")] * 3)
    _overloaded(proxy, "patch", "runs", busy)
    proxy.streams("runs").cut()
    proxy.streams("pods").cut()
    scheduler.says("not deciding")
    scheduler.says_like("cannot list runs.kruntimes.io in .*: the API server answered 429")
    status, why = scheduler.get("probes", "/readyz")
    assert status == 503
    assert "the API server does not answer as it should" in why
    work.run("r")
    work.wait_for("r", placed, seconds=10)
    assert scheduler.get("probes", "/readyz") == (200, "ok\n")
    assert proxy.count("list", "runs") == 5
    assert proxy.count("patch", "runs") == 2


def test_rights_that_are_taken_are_named_and_given_again_without_a_restart(
    cluster: Cluster, work: Workload, proxy: FaultProxy, start: Start, service_account: ServiceAccounts
) -> None:
    account = service_account(RULES)
    scheduler = start(by=proxy, token=account.token)
    without_pods = [rule for rule in RULES if rule["resources"] != ["pods"]]
    change_rules(cluster, account, without_pods)
    refused = cluster.client(account.token)
    cluster.server.wait_until(lambda: _refused(refused, work.namespace), 20, "refusal of pods")
    proxy.streams("pods").cut()
    scheduler.says_like(f"cannot watch pods in {work.namespace}: forbidden: grant the verb")
    status, why = scheduler.get("probes", "/readyz")
    assert status == 503
    assert "cannot watch pods: forbidden" in why
    assert f"cannot watch pods in {work.namespace}: forbidden" in scheduler.get("debug", "/checks")[1]
    assert scheduler.get("probes", "/healthz")[0] == 200
    work.pod("py-0")
    work.run("r")
    assert work.phases() == {"r": ""}
    change_rules(cluster, account, RULES)
    work.wait_for("r", placed, seconds=15)
    assert scheduler.get("probes", "/readyz") == (200, "ok\n")


def _refused(client: Client, namespace: str) -> bool:
    return client.list(PODS, namespace).status == 403
