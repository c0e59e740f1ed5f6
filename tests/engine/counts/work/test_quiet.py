"""What changes nothing costs nothing: no question, no cycle, no request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine.events import RunObserved
from kruntimes_core.model.run import Phase
from kruntimes_core.testing.builders import NAMESPACE


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
