"""Reserve: each plugin that kept something hears once how it ended."""

from __future__ import annotations

from typing import Any

import pytest
from keeping.keeper import RESERVED, Keeper, Log, host_of, unreserved

from kruntimes_core import Reject, Run, RuntimePod
from kruntimes_core.engine.plugin_work import ReserveWork
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
from kruntimes_core.testing.plugins import fake_plugin

# A host with two keepers.


@pytest.fixture
def log() -> Log:
    return []


@pytest.fixture
def host(log: Log) -> Host:
    """A host with two keepers, one Pod for one Run, and the Run `r`."""
    host = host_of(Keeper("A", log).plugin(), Keeper("B", log).plugin())
    host.pod("py-0", runs=1)
    host.run("r")
    return host


# A Pod that a `reserve` turns down is left out, and the next best is taken.


def test_a_pod_that_a_reserve_turns_down_is_left_out_and_the_next_best_is_taken(log: Log) -> None:
    host = host_of(Keeper("A", log).plugin(), Keeper("B", log, {"py-0"}).plugin())
    host.pod("py-0", runs=1)
    host.pod("py-1", runs=1)
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-1"
    assert not host.usage("py-0")
    assert sorted(log[:4]) == sorted([*RESERVED, *unreserved(bound=False)])
    assert log.count(("unreserve", "B", "r", "py-1", True)) == 1


def test_with_no_pod_left_the_run_waits_with_growing_backoff_and_without_a_loop(log: Log) -> None:
    keeper = Keeper("A", log, {"py-0"})
    host = host_of(keeper.plugin())
    host.pod("py-0", runs=1)
    host.run("r")
    asked = []
    for _ in range(40):
        host.advance(1)
        asked.append(sum(1 for call in log if call[0] == "reserve"))
    assert [asked.index(number) + 1 for number in range(2, 7)] == [1, 3, 7, 15, 31]
    assert host.texts("r") == ["waiting for Kept"]
    keeper.refused.clear()
    host.advance(60)
    assert host.pod_of("r") == "py-0"


def test_a_pod_that_was_turned_down_is_tried_again_in_the_next_cycle(log: Log) -> None:
    keeper = Keeper("A", log, {"py-0", "py-1"})
    host = host_of(keeper.plugin())
    host.pod("py-0", runs=1)
    host.pod("py-1", runs=1)
    host.run("r")
    host.settle()
    keeper.refused.remove("py-0")
    host.advance(2)
    assert host.pod_of("r") == "py-0"


def test_a_run_in_backoff_after_a_refused_reserve_does_not_block_its_class() -> None:
    refused = {"r1"}

    def reserve(run: Run) -> Reject | None:
        return Reject("Kept") if run.name in refused else None

    host = host_of(fake_plugin("Picky", reasons=["Kept"], reserve=reserve))
    host.pod("py-0", runs=1)
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    assert [host.pod_of(name) for name in ("r1", "r2", "r3")] == [None, "py-0", None]


def test_room_that_a_turned_down_reservation_held_is_offered_to_others() -> None:
    def reserve(run: Run) -> Reject | None:
        return Reject("Kept") if run.name == "r1" else None

    host = host_of(fake_plugin("Picky", reasons=["Kept"], reserve=reserve))
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    first, second = host.take(), host.take()
    host.finish(first)
    host.finish(second)
    host.settle()
    assert host.pod_of("r2") == "py-0"


# A `reserve` or `unreserve` that raises, hangs or answers out of contract.


def test_a_reserve_that_raises_is_given_back_too_with_those_before_it(log: Log) -> None:
    def reserve(pod: RuntimePod) -> None:
        log.append(("reserve", "Broken", pod.name))
        raise SystemExit(3)

    def unreserve(pod: RuntimePod, bound: bool) -> None:
        log.append(("unreserve", "Broken", pod.name, bound))

    host = host_of(
        Keeper("A", log).plugin(),
        fake_plugin("Broken", reserve=reserve, unreserve=unreserve),
        Keeper("Z", log).plugin(),
    )
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert log == [
        ("reserve", "A", "r", "py-0"),
        ("reserve", "Broken", "py-0"),
        ("unreserve", "Broken", "py-0", False),
        ("unreserve", "A", "r", "py-0", False),
    ]
    assert host.engine.counters.plugin_errors == {("Broken", "reserve"): 1}
    assert not host.requests
    assert not host.usage()


def test_a_reserve_that_never_came_back_is_given_back_up_to_the_plugin_that_hangs(log: Log) -> None:
    """The driver abandons the call and says who hangs; those behind were never asked."""
    host = host_of(*(Keeper(name, log).plugin() for name in "ABC"))
    host.pod("py-0", runs=1)
    host.run("r")
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    hanging = work.profile.plugins[2]
    host.engine.finish(work, work.failed(hanging.error("reserve", "did not return")), host.now)
    host.work()
    assert log == [("unreserve", "B", "r", "py-0", False), ("unreserve", "A", "r", "py-0", False)]
    assert not host.usage()
    host.advance(2)
    assert host.pod_of("r") == "py-0"


def test_an_unreserve_that_raises_is_counted_and_the_others_are_asked(log: Log) -> None:
    def unreserve(bound: bool) -> None:
        raise RuntimeError("no")

    host = host_of(
        Keeper("A", log).plugin(), fake_plugin("Broken", reserve=lambda pod: None, unreserve=unreserve)
    )
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert log[-1] == ("unreserve", "A", "r", "py-0", True)
    assert host.engine.counters.plugin_errors == {("Broken", "unreserve"): 1}


def test_an_undeclared_reason_of_a_reserve_is_an_error_and_no_rejection() -> None:
    host = host_of(fake_plugin("Odd", reserve=lambda pod: Reject("Undeclared")))
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert host.engine.counters.plugin_errors == {("Odd", "reserve"): 1}
    assert host.texts("r") == []


# What changes while a plugin's `reserve` is under way.


def test_a_plan_that_comes_back_after_leadership_was_lost_reserves_nothing(log: Log) -> None:
    """Also when a text of the Run is under way meanwhile."""
    host = host_of(Keeper("A", log).plugin())
    host.run("r")
    host.disturb("r", hold_request)
    host.settle()
    host.pod("py-0", runs=1)
    host.observe()
    work = host.take()
    host.engine.stand_down(host.now)
    host.finish(work)
    host.settle()
    assert log == []
    assert not host.usage()


def test_a_reserve_under_way_when_leadership_is_lost_is_given_back(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    host.engine.stand_down(host.now)
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)


def test_a_run_deleted_while_its_reserve_is_under_way_is_given_back(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    host.delete("r")
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert not host.usage()


def test_a_reserve_that_was_not_begun_is_not_asked_for_a_run_that_is_gone(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    host.delete("r")
    host.settle()
    assert log == []


def test_a_run_that_changed_while_its_reserve_is_under_way_is_given_back_and_tried_again(
    host: Host, log: Log
) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    host.change("r", metadata={"labels": {"app": "b"}})
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False) + RESERVED + unreserved(bound=True)
    assert host.pod_of("r") == "py-0"


@pytest.mark.parametrize("how", ["cancelled", "deleting"])
def test_a_run_that_is_to_end_while_its_reserve_is_under_way_is_not_bound(
    host: Host, log: Log, how: str
) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    if how == "cancelled":
        host.change("r", spec={"cancelRequested": True})
    else:
        host.change("r", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert host.pod_of("r") is None
    assert host.status("r")["phase"] == ("Cancelled" if how == "cancelled" else "Pending")


# Each ending of a reservation is told once, in reverse order.


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
