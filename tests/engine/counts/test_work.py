"""What is done and sent for what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine.api_calls import WriteKind
from kruntimes_core.engine.events import RunObserved
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.run import Phase
from kruntimes_core.testing.builders import NAMESPACE

# What placing costs: one cycle and one patch for each Run, and questions about what changed.


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


# What changes nothing costs nothing: no question, no cycle, no request.


@pytest.fixture
def busy(crowd: Crowd) -> Crowd:
    """A hundred full Pods, Runs of two requests that wait, and some that have ended."""
    crowd.make_pods(100, runs=1)
    for number in range(100):
        crowd.observation(f"x-{number}", pod=f"py-{number:04}")
    crowd.make_runs(20, "ended", pod="py-0000", phase=Phase.SUCCEEDED)
    crowd.make_runs(20, "plain")
    crowd.make_runs(20, "large", request={"gpu": 1})
    crowd.settle()
    assert crowd.placed("plain-00000") is None
    return crowd


def test_a_round_of_heartbeats(busy: Crowd) -> None:
    busy.host.jump(5)
    assert busy.count(busy.beat).nothing


def test_heartbeats_for_a_minute_start_no_cycle_but_the_sweep_of_each_class(busy: Crowd) -> None:
    def minute() -> None:
        for _ in range(12):
            busy.host.pass_time(5)
            busy.beat()
            busy.settle()

    done = busy.count(minute)
    assert done.cycles == 2 * 2
    assert (done.writes, done.reads) == ((), 0)
    assert done.asked["filter"] == 0


def everything(crowd: Crowd) -> None:
    crowd.list_pods()
    crowd.list_runs()


@pytest.mark.parametrize("listed", [Crowd.list_pods, Crowd.list_runs, everything])
def test_a_list_of_what_is_known(busy: Crowd, listed: Callable[[Crowd], None]) -> None:
    assert busy.count(lambda: listed(busy)).nothing


def test_the_echo_of_an_own_text(busy: Crowd) -> None:
    waiting = busy.runs[NAMESPACE, "plain-00003"]
    assert waiting.message.startswith("waiting for")
    assert busy.count(lambda: busy.host.tell(RunObserved(waiting))).nothing


def test_a_newer_version_of_a_run_that_asks_for_the_same(busy: Crowd) -> None:
    """As when somebody adds an output, or a controller renews a condition."""
    waiting = busy.runs[NAMESPACE, "plain-00003"]
    newer = replace(waiting, version="2000000")
    assert busy.count(lambda: busy.host.tell(RunObserved(newer))).nothing


def test_a_label_of_a_run_that_has_ended(busy: Crowd) -> None:
    ended = {"pod": "py-0000", "phase": Phase.SUCCEEDED}
    assert busy.count(lambda: busy.see_run("ended-00003", labels={"a": "b"}, **ended)).nothing


def test_an_ended_run_is_deleted(busy: Crowd) -> None:
    assert busy.count(lambda: busy.forget("ended-00003")).nothing


def test_a_tick_before_anything_is_due(busy: Crowd) -> None:
    assert busy.count(lambda: busy.host.engine.tick(busy.host.now)).nothing


def test_a_heartbeat_that_changes_nothing_asks_nobody_and_starts_no_cycle(crowd: Crowd) -> None:
    crowd.make_pods(50, runs=1)
    for number in range(50):
        crowd.see_run(f"x{number}", pod=f"py-{number:04}")
    crowd.see_run("r")
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.host.jump(5)
    crowd.make_pods(50, runs=1)
    assert crowd.decide() == {}
    assert crowd.host.cycles == cycles


# What a start costs: a take-over writes only what is not said already.


PODS, WAITING = 20, 1_000


@pytest.fixture
def former(crowd: Crowd) -> Crowd:
    """A host that knows ten thousand Runs: some run, some wait, most have ended."""
    crowd.make_pods(PODS, runs=1)
    for number in range(PODS):
        crowd.observation(f"x-{number}", pod=f"py-{number:04}")
    for number in range(10_000 - PODS - WAITING):
        crowd.observation(f"e-{number}", pod="py-0000", phase=Phase.SUCCEEDED)
    crowd.make_runs(WAITING, "r")
    crowd.settle()
    return crowd


def successor(former: Crowd, profiles: Profiles) -> Crowd:
    """Another host on what the former one left."""
    host = Crowd(profiles)
    host.runs, host.pods = dict(former.runs), dict(former.pods)
    return host


def start(crowd: Crowd) -> None:
    crowd.list_pods()
    crowd.list_runs()


def test_ten_thousand_runs_that_say_what_is_true_are_not_written_to(
    former: Crowd, profiles: Profiles
) -> None:
    host = successor(former, profiles)
    done = host.count(lambda: start(host))
    assert (done.writes, done.reads) == ((), 0)
    assert done.cycles == WAITING


def test_all_that_wait_for_the_same_ask_once_about_each_pod(former: Crowd, profiles: Profiles) -> None:
    host = successor(former, profiles)
    asked = host.count(lambda: start(host)).asked
    assert asked["prefilter"] == 5
    assert PODS <= asked["filter"] <= 3 * PODS
    assert asked["score"] == 0


def test_only_what_is_not_true_any_more_is_written(former: Crowd, profiles: Profiles) -> None:
    host = successor(former, profiles)
    for number in range(7):
        host.observation(f"r-{number:05}", message="waiting for something else")
    done = host.count(lambda: start(host))
    assert done.kinds == {WriteKind.TEXT: 7}


def test_room_that_is_found_at_the_start_is_given_to_the_first(former: Crowd, profiles: Profiles) -> None:
    host = successor(former, profiles)
    host.see_pod("py-0020", runs=3)
    done = host.count(lambda: start(host))
    assert done.kinds == {WriteKind.BIND: 3}
    assert [host.placed(f"r-{number:05}") for number in range(4)] == ["py-0020"] * 3 + [None]


# What a change costs beside thousands of Runs that wait: as much as what it changes for them.


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
