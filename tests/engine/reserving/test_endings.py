"""Each ending of a reservation is told once, in reverse order."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    Host,
    hold_answer,
    hold_request,
    lose_answer,
    lose_request,
    refuse,
)
from tests.engine.reserving.keeper import RESERVED, Keeper, Log, host_of, unreserved


def test_unreserve_is_asked_when_the_assignment_is_seen_and_not_before(host: Host, log: Log) -> None:
    host.observe()
    host.watches.hold(RUNS)
    host.advance(4)
    assert host.pod_of("r") == "py-0"
    assert log == RESERVED
    host.watches.resume(RUNS)
    host.advance(60)
    assert log == RESERVED + unreserved(bound=True)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 413, 422, 429])
def test_a_refused_bind_ends_the_reservation_at_once(host: Host, log: Log, status: int) -> None:
    host.disturb("r", refuse(status))
    host.observe()
    host.work()
    host.send()
    host.work()
    assert log[:4] == RESERVED + unreserved(bound=False)


def test_a_deleted_run_ends_its_reservation(host: Host, log: Log) -> None:
    host.disturb("r", hold_request)
    host.settle()
    host.delete("r")
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert not host.usage()
    host.release("r")
    host.advance(60)
    assert log == RESERVED + unreserved(bound=False)


def test_a_pod_that_goes_before_the_bind_is_sent_ends_the_reservation(host: Host, log: Log) -> None:
    host.observe()
    host.work()
    host.delete("py-0", kind=PODS)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert [write.body["status"]["phase"] for write in host.writes("r")] == ["Pending"]


def test_a_bind_that_waits_is_dropped_when_leadership_is_lost(host: Host, log: Log) -> None:
    host.observe()
    host.work()
    host.engine.stand_down(host.now)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert not host.requests
    assert not host.usage()
    host.engine.lead(host.now)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_bind_that_waits_behind_a_text_is_dropped_when_leadership_is_lost(log: Log) -> None:
    host = host_of(Keeper("A", log).plugin())
    host.run("r")
    host.disturb("r", hold_request)
    host.settle()
    assert [write.body["status"]["phase"] for write in host.writes("r")] == ["Pending"]
    host.pod("py-0", runs=1)
    host.settle()
    assert log == [("reserve", "A", "r", "py-0")]
    host.engine.stand_down(host.now)
    host.settle()
    assert log[1:] == [("unreserve", "A", "r", "py-0", False)]
    assert not host.usage()


@pytest.mark.parametrize(
    ("fault", "bound"), [(lose_answer, True), (lose_request, True)], ids=["applied", "not applied"]
)
def test_a_bind_in_doubt_keeps_its_reservation_and_asks_once(
    host: Host, log: Log, fault: Any, bound: bool
) -> None:
    host.disturb("r", fault)
    host.advance(5)
    assert host.pod_of("r") == "py-0"
    assert log == RESERVED + unreserved(bound=bound)


def test_an_assignment_to_another_pod_by_somebody_else_ends_it_as_not_bound(host: Host, log: Log) -> None:
    host.disturb("r", hold_request)
    host.settle()
    host.change("r", status={"phase": "Scheduled", "assignedPod": "py-9", "assignedPodUID": "uid-py-9"})
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    host.release("r")
    host.advance(60)
    assert log == RESERVED + unreserved(bound=False)
    assert host.pod_of("r") == "py-9"


def test_the_echo_may_come_before_the_answer(host: Host, log: Log) -> None:
    host.disturb("r", hold_answer)
    host.settle()
    assert log == RESERVED + unreserved(bound=True)
    host.release("r")
    host.advance(60)
    assert log == RESERVED + unreserved(bound=True)
    assert host.usage() == {"runs": 1}
