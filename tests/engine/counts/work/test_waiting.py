"""What a change costs beside thousands of Runs that wait: as much as what it changes for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine.api_calls import WriteKind

MANY = 1_000
# A text has the name of the Runtime in it, and nothing that grows.
TEXT_BYTES = 160
FILTERS = 3


def fill(crowd: Crowd, waiting: int) -> None:
    """Ten full Pods, and Runs that wait for a slot."""
    crowd.make_pods(10, runs=1)
    for number in range(10):
        crowd.observation(f"x-{number}", pod=f"py-{number:04}")
    crowd.make_runs(waiting, "r")


@pytest.fixture
def full(crowd: Crowd) -> Crowd:
    """A host that has said to many that they wait."""
    fill(crowd, MANY)
    crowd.settle()
    return crowd


def test_each_run_that_waits_says_so_once(crowd: Crowd) -> None:
    done = crowd.count(lambda: fill(crowd, 500))
    assert done.kinds == {WriteKind.TEXT: 500}
    assert done.written_bytes <= 500 * TEXT_BYTES
    assert done.asked["filter"] <= FILTERS * 10
    assert done.asked["score"] == 0


@pytest.mark.parametrize("waiting", [1, 10, 10_000])
def test_a_freed_slot_is_one_decision_and_one_patch(crowd: Crowd, waiting: int) -> None:
    fill(crowd, waiting)
    crowd.settle()
    done = crowd.count(lambda: crowd.end("x-4"))
    assert done.kinds == {WriteKind.BIND: 1}
    assert crowd.placed("r-00000") == "py-0004"
    # The Run that gets it, and the next one, for which nothing is left.
    assert done.cycles == min(waiting, 2)
    assert done.pods == {"py-0004"}
    assert done.asked["filter"] <= 2 * FILTERS


def test_a_larger_pod_takes_as_many_as_it_has_room_for(full: Crowd) -> None:
    done = full.count(lambda: full.see_pod("py-0004", runs=9))
    assert done.kinds == {WriteKind.BIND: 8}
    assert done.cycles == 9
    assert done.pods == {"py-0004"}


def test_a_new_pod_is_offered_once(full: Crowd) -> None:
    done = full.count(lambda: full.see_pod("py-0010", runs=1))
    assert done.kinds == {WriteKind.BIND: 1}
    assert done.cycles == 2
    assert done.pods == {"py-0010"}


def test_a_pod_that_has_no_room_after_its_change_either_is_one_evaluation(full: Crowd) -> None:
    done = full.count(lambda: full.see_pod("py-0004", runs=1, annotations={"a": "b"}))
    assert done.writes == ()
    assert done.cycles == 1
    assert done.asked["filter"] <= FILTERS


def test_one_more_run_that_waits_is_one_cycle_and_one_text(full: Crowd) -> None:
    done = full.count(lambda: full.see_run("late"))
    assert (done.cycles, done.kinds) == (1, {WriteKind.TEXT: 1})
    assert done.asked == {}


def test_a_label_of_one_that_waits_is_one_cycle_and_no_text(full: Crowd) -> None:
    message = full.runs["team-a", "r-00777"].message
    done = full.count(lambda: full.see_run("r-00777", labels={"a": "b"}, message=message))
    assert (done.cycles, done.writes) == (1, ())
    assert done.asked["filter"] == 0


def test_a_label_of_a_run_that_runs_is_one_evaluation(full: Crowd) -> None:
    done = full.count(lambda: full.see_run("x-4", pod="py-0004", labels={"a": "b"}))
    assert (done.writes, done.reads) == ((), 0)
    assert done.cycles == 1
    assert done.pods == {"py-0004"}


def test_one_of_those_that_wait_is_deleted(full: Crowd) -> None:
    assert full.count(lambda: full.forget("r-00777")).nothing


def freed_here(crowd: Crowd) -> None:
    crowd.end("here")


def changed_here(crowd: Crowd) -> None:
    crowd.see_pod("py-0000", runs=3)


def placed_here(crowd: Crowd) -> None:
    crowd.see_run("new")


@pytest.mark.parametrize("change", [freed_here, changed_here, placed_here])
@pytest.mark.parametrize("elsewhere", [{"runtime": "node"}, {"namespace": "team-b"}], ids=["runtime", "ns"])
def test_five_thousand_that_wait_for_something_else_cost_nothing(
    crowd: Crowd, elsewhere: dict[str, Any], change: Callable[[Crowd], None]
) -> None:
    crowd.see_pod("py-0000", runs=2)
    crowd.see_pod("other", runs=1, **elsewhere)
    crowd.observation("there", pod="other", **elsewhere)
    crowd.observation("here", pod="py-0000")
    crowd.make_runs(5_000, "r", **elsewhere)
    crowd.settle()
    done = crowd.count(lambda: change(crowd))
    placed = change is placed_here
    assert done.cycles == placed
    assert done.kinds == ({WriteKind.BIND: 1} if placed else {})
    assert done.pods <= {"py-0000"}
