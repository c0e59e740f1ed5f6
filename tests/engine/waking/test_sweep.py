"""The sweep finds nothing, unless a wakeup is lost; crowds and storms."""

from __future__ import annotations

from functools import partial

import pytest
from engine_scenes import BASE_TEXT, full

from kruntimes_core.engine import events
from kruntimes_core.engine.plugin_work import PlanWork
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import make_run
from kruntimes_core.testing.harness import RUNS, Host, arrive_late


def test_the_sweep_looks_at_each_class_every_30_s_and_finds_nothing(host: Host) -> None:
    for number in range(50):
        host.run(f"r{number}", requests={f"gpu{number % 5}": "1"})
    host.pod("py-0", runs=1)
    host.settle()
    cycles = host.cycles
    host.advance(29.9)
    assert host.cycles == cycles
    host.advance(60)
    assert host.cycles - cycles == 2 * 5
    assert host.engine.counters.rescues == 0


def test_a_wakeup_that_was_lost_is_rescued_by_the_sweep_and_counted(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(host)
    waiting = host.engine._queue.unschedulable
    with monkeypatch.context() as lossy:
        lossy.setattr(waiting, "pod_changed", lambda namespace, runtime, cause: None)
        host.end("x")
        host.settle()
    assert host.pod_of("r") is None
    host.advance(31)
    assert host.pod_of("r") == "py-0"
    assert host.engine.counters.rescues == 1


def test_a_sweep_that_rescues_one_run_goes_on_with_its_class(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        host.run(f"r{number}")
    host.settle()
    with monkeypatch.context() as lossy:
        lossy.setattr(host.engine._queue.unschedulable, "pod_changed", lambda namespace, runtime, cause: None)
        host.pod("py-0", runs=3)
        host.settle()
    host.advance(31)
    assert [host.pod_of(f"r{number}") for number in range(3)] == ["py-0"] * 3
    assert host.engine.counters.rescues == 1
    assert host.wakeups == {}  # the others of the class are tried because the first one was placed


def test_the_sweep_gets_its_turn_while_the_queue_is_never_empty(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(host)
    with monkeypatch.context() as lossy:
        lossy.setattr(host.engine._queue.unschedulable, "pod_changed", lambda namespace, runtime, cause: None)
        host.end("x")
        host.settle()
    host.advance(29.9)
    for number in range(40):
        arrived = RunObservation(run=make_run(f"n{number}", runtime="js"), version="1")
        host.tell(events.RunObserved(arrived))
        host.pass_time(0.01)
        host.finish(host.take())
    assert host.engine.counters.rescues == 1


def test_a_heartbeat_storm_moves_nothing_and_does_not_delay_a_run_that_fits(host: Host) -> None:
    for number in range(20):
        host.pod(f"py-{number:02}", runs=9)
    for number in range(60):
        host.run(f"r{number:02}", requests={"gpu": "1"})
    host.settle()
    cycles = host.cycles
    host.advance(60)
    assert host.cycles - cycles == 2
    host.run("ok")
    host.settle()
    assert host.pod_of("ok") == "py-00"
    assert len(host.requests) == 61
    assert all(host.texts(f"r{number:02}") == [BASE_TEXT] for number in range(60))
    assert host.engine.counters.rescues == 0


def test_many_runs_few_slots_and_a_slow_server(host: Host) -> None:
    """Forty Runs, four slots, 200 ms a write, a watch that is 3 s late; each ends 1 s after its bind."""
    host.transport = arrive_late(0.2)
    host.pod("py-0", runs=4)
    names = [f"r{number:02}" for number in range(40)]
    for name in names:
        host.run(name)
    host.settle()
    ended: set[str] = set()
    for _ in range(400):
        host.watches.hold(RUNS)
        host.later(3, partial(host.watches.let_through, RUNS, len(host.server.events[RUNS])))
        host.advance(0.25)
        for name in names:
            if host.pod_of(name) and name not in ended:
                ended.add(name)
                host.later(1, partial(host.end, name))
    assert ended == set(names)
    assert set(host.server.invariants.binds.values()) == {1}


def test_of_sixteen_pieces_of_work_one_belongs_to_the_sweep(host: Host) -> None:
    waiting = [f"w{number}" for number in range(3)]
    for number, name in enumerate(waiting):
        host.run(name, requests={f"gpu{number}": "1"})
    host.settle()
    host.pass_time(30)
    swept = []
    for number in range(64):
        arrived = RunObservation(run=make_run(f"n{number}", runtime="js"), version="1")
        host.tell(events.RunObserved(arrived))
        work = host.take()
        assert isinstance(work, PlanWork)
        if work.run.name in waiting:
            swept.append((number, work.run.name))
        host.finish(work)
    first = swept[0][0]
    assert swept == [(first, "w0"), (first + 16, "w1"), (first + 32, "w2")]
