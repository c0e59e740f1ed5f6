"""What a start costs: a take-over writes only what is not said already."""

from __future__ import annotations

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine.api_calls import WriteKind
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.run import Phase

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
