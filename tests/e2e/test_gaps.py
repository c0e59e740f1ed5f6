"""Watches that break and lists that fail midway, between the scheduler and a real API server."""

from __future__ import annotations

import pytest

from faultproxy.faults import Fault, Match, refusal
from faultproxy.proxy import FaultProxy
from realcluster.hosts import Start
from realcluster.workload import BASE_TEXT, Workload, in_phase, placed, saying

OFFERED = "b2ZmZXJlZA"
"""A token that goes on at another version, as the server offers it with a 410."""
EXPIRED = {
    # The real server says so in the stream, the proxy by the answer's status.
    "in the stream": Fault(query={"resourceVersion": "1"}),
    "by status": Fault(forwarded=False, answer=refusal(410, "Expired", "too old resource version")),
}
BROKEN_PAGES = {
    "token expired": Fault(forwarded=False, answer=refusal(410, "Expired", token=OFFERED)),
    "token refused": Fault(query={"continue": "bm90aGluZw"}),
    "connection broken": Fault(dropped=True),
}


@pytest.mark.parametrize("fault", EXPIRED.values(), ids=EXPIRED.keys())
def test_what_was_deleted_in_a_gap_is_noticed(
    work: Workload, proxy: FaultProxy, start: Start, fault: Fault
) -> None:
    work.pod("py-0", runs=1)
    start(by=proxy)
    work.run("x")
    work.wait_for("x", placed)
    work.run("r")
    work.wait_for("r", saying(BASE_TEXT))
    proxy.streams("runs").hold()
    work.delete("x")
    proxy.disturb(Match("watch", "runs"), fault)
    proxy.streams("runs").cut()
    proxy.streams("runs").release()
    work.wait_for("r", placed, seconds=5)
    assert proxy.count("list", "runs") == 2


def test_a_pod_that_was_deleted_in_a_gap_is_never_chosen(
    work: Workload, proxy: FaultProxy, start: Start
) -> None:
    work.pod("py-0")
    work.pod("py-1", ready=False)
    scheduler = start(by=proxy)
    proxy.streams("pods").hold()
    work.delete_pod("py-0")
    proxy.disturb(Match("watch", "pods"), EXPIRED["by status"])
    proxy.streams("pods").cut()
    proxy.streams("pods").release()
    scheduler.wait_until(lambda: proxy.count("list", "pods") == 2)
    proxy.streams("pods").wait_opened(2)
    work.run("r")
    work.wait_for("r", saying(BASE_TEXT))
    work.beat("py-1")
    assert work.wait_for("r", placed)["assignedPod"] == "py-1"


@pytest.mark.parametrize("after_bytes", [1, 2, 40, 300])
def test_a_watch_that_breaks_within_an_event_loses_nothing(
    work: Workload, proxy: FaultProxy, start: Start, after_bytes: int
) -> None:
    work.pod("py-0")
    start(by=proxy)
    proxy.streams("runs").cut(after_bytes)
    work.run("ra")
    work.wait_for("ra", placed, seconds=5)
    assert proxy.count("list", "runs") == 1


@pytest.mark.parametrize("fault", BROKEN_PAGES.values(), ids=BROKEN_PAGES.keys())
def test_half_a_list_is_no_list(work: Workload, proxy: FaultProxy, start: Start, fault: Fault) -> None:
    for number in range(5):
        work.pod(f"py-{number}", runs=8)
    for number in range(100):
        work.run(f"a{number:03}", runtime="js")
    for number in range(40):
        work.run(f"z{number:03}")
    scheduler = start(by=proxy)
    work.wait(lambda now: len(in_phase(now, "Scheduled")) == 40)
    work.run("zz")
    work.wait_for("zz", saying(BASE_TEXT))
    later_page = proxy.disturb(Match("list", "runs", later_page=True), fault, times=2)
    proxy.disturb(Match("watch", "runs"), EXPIRED["in the stream"])
    proxy.streams("runs").cut()
    later_page.hit(2)
    scheduler.says_like("cannot list runs")
    proxy.streams("runs").wait_opened(3)
    assert work.get("zz")["status"] == {"phase": "Pending", "message": BASE_TEXT}
    assert not any(OFFERED in str(one.url) for one in proxy.log)
    work.end(["z000"])
    work.wait_for("zz", placed, seconds=5)
