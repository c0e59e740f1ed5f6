"""What placing costs: one cycle and one patch for each Run, and questions about what changed."""

from __future__ import annotations

from counting.crowd import Crowd

from kruntimes_core.engine.api_calls import WriteKind

FILTERS, SCORERS, PREFILTERS = 3, 2, 5
# Of a bind, with names as short as those of these tests.
BIND_BYTES = 330


def test_a_burst_costs_a_cycle_and_a_patch_for_each_run(crowd: Crowd) -> None:
    crowd.make_pods(20)
    done = crowd.count(lambda: crowd.make_runs(30, "r"))
    assert done.cycles == 30
    assert done.kinds == {WriteKind.BIND: 30}
    assert done.reads == 0
    assert done.written_bytes <= 30 * BIND_BYTES


def test_a_burst_asks_about_all_pods_once_and_then_about_the_one_that_changed(crowd: Crowd) -> None:
    crowd.make_pods(20)
    asked = crowd.count(lambda: crowd.make_runs(30, "r")).asked
    assert asked["prefilter"] == PREFILTERS
    assert 0 < asked["filter"] <= FILTERS * (20 + 29)
    assert 0 < asked["score"] <= SCORERS * (20 + 29)
    assert asked["normalize"] == 0


def test_a_later_run_with_the_same_wishes_asks_about_one_pod(crowd: Crowd) -> None:
    crowd.make_pods(50)
    crowd.count(lambda: crowd.see_run("before"))
    done = crowd.count(lambda: crowd.see_run("r"))
    assert done.asked["prefilter"] == 0
    assert done.pods <= {crowd.placed("before")}
    assert (done.cycles, done.kinds) == (1, {WriteKind.BIND: 1})


def test_a_run_that_was_placed_is_confirmed_without_a_question(crowd: Crowd) -> None:
    crowd.make_pods(50)
    crowd.see_run("r")
    crowd.host.work()
    assert crowd.host.send()
    done = crowd.count()
    assert done.nothing
    assert crowd.placed("r") == "py-0000"


def test_a_run_ends_and_nobody_waits(crowd: Crowd) -> None:
    crowd.make_pods(50)
    crowd.make_runs(50, "r")
    crowd.settle()
    assert crowd.count(lambda: crowd.end("r-00007")).nothing
