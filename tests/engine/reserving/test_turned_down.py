"""A Pod that a `reserve` turns down is left out, and the next best is taken."""

from __future__ import annotations

from kruntimes_core import Reject, Run
from kruntimes_core.testing.plugins import fake_plugin
from tests.engine.reserving.keeper import RESERVED, Keeper, Log, host_of, unreserved


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
