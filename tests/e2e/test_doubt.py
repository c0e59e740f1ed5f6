"""Binds of which nobody knows whether they were applied, on a real API server: nothing is oversold."""

from __future__ import annotations

import pytest

from faultproxy.faults import Fault, Match, Reply, refusal
from faultproxy.proxy import FaultProxy
from realcluster.hosts import Start
from realcluster.ledger import Statuses
from realcluster.workload import BASE_TEXT, Workload, in_phase, placed, saying

BIND = Match("patch", "runs", "r1")
READ = Match("get", "runs", "r1")
APPLIED = {
    "connection broken": Fault(dropped=True),
    "504": Fault(answer=refusal(504, "Timeout")),
    "408": Fault(answer=refusal(408, "Timeout")),
}
REFUSED = {"429": refusal(429, "TooManyRequests", Retry_After="1"), "422": refusal(422, "Invalid")}


@pytest.mark.parametrize(
    ("fault", "failing_reads"),
    [("connection broken", 0), ("504", 0), ("408", 0), ("connection broken", 2), ("504", 2)],
)
def test_a_bind_whose_answer_is_lost_keeps_its_room(
    work: Workload, proxy: FaultProxy, start: Start, fault: str, failing_reads: int
) -> None:
    work.pod("py-0", runs=1)
    work.run("r1")
    work.run("r2")
    proxy.streams("runs").hold()
    bind = proxy.disturb(BIND, APPLIED[fault])
    reads = proxy.disturb(READ, Fault(forwarded=False, dropped=True), times=failing_reads)
    scheduler = start(by=proxy)
    bind.hit()
    reads.hit(failing_reads)
    # By a read alone, because the watch is silent.
    scheduler.wait_until(lambda: scheduler.metric("requests_total", request="read", outcome="Found") >= 1)
    work.wait_for("r2", saying(BASE_TEXT))
    assert scheduler.metric("sync_total", result="scheduled") == 1
    proxy.streams("runs").release()
    work.end(["r1"])
    work.wait_for("r2", placed)
    assert proxy.count("patch", "runs", "r1") == 1


def test_a_bind_that_never_arrived_is_sent_again(work: Workload, proxy: FaultProxy, start: Start) -> None:
    work.pod("py-0", runs=1)
    work.run("r1")
    work.run("r2")
    proxy.disturb(BIND, Fault(forwarded=False, dropped=True))
    start(by=proxy)
    work.wait_for("r1", placed)
    work.wait_for("r2", saying(BASE_TEXT))
    assert proxy.count("patch", "runs", "r1") == 2


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_bind_frees_its_room_at_once(
    work: Workload, proxy: FaultProxy, start: Start, refused: Reply
) -> None:
    work.pod("py-0", runs=1)
    work.run("r1")
    work.run("r2")
    proxy.disturb(BIND, Fault(forwarded=False, answer=refused))
    start(by=proxy)
    work.wait_for("r2", placed, seconds=5)
    work.end(["r2"])
    work.wait_for("r1", placed, seconds=5)
    assert proxy.count("get", "runs", "r1") == 0


def test_many_runs_on_few_slots_of_a_slow_server(work: Workload, proxy: FaultProxy, start: Start) -> None:
    work.pod("py-0", runs=4)
    for number in range(40):
        work.run(f"r{number:02}")
    proxy.disturb(Match("patch", "runs"), Fault(holds_request=True, seconds=0.2), times=None)
    proxy.streams("runs").late_seconds = 0.4
    start(by=proxy)
    while len(in_phase(now := work.wait(_somebody_ran), "Succeeded")) < 40:
        work.end(in_phase(now, "Scheduled"))


def _somebody_ran(now: Statuses) -> bool:
    return bool(in_phase(now, "Scheduled")) or len(in_phase(now, "Succeeded")) == 40
