"""How many rows the tables have: as many as there are Runs, and none when those are gone."""

from __future__ import annotations

import gc
from random import Random

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine import events
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import make_run
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import Host


def test_the_tables_shrink_back_when_all_runs_are_gone(crowd: Crowd) -> None:
    crowd.make_pods(20, runs=2)
    before = crowd.host.engine.sizes
    for number in range(2_000):
        crowd.see_run(f"r{number}", request={"gpu": 1} if number % 2 else None, labels={"n": str(number % 7)})
    crowd.settle()
    for number in range(2_000):
        crowd.forget(f"r{number}")
    crowd.host.advance(120)
    assert crowd.host.engine.sizes == before


@pytest.mark.parametrize("leading", [True, False], ids=["leader", "standby"])
def test_runs_that_come_and_go_leave_nothing_behind(profiles: Profiles, leading: bool) -> None:
    """A standby takes no work, so what waits there for its turn must go by itself."""
    host = Host(profiles, leading=leading)
    host.relist("Pod", "PersistentWorkspace", "Run")
    before = host.engine.sizes
    for number in range(5_000):
        run = make_run(f"r{number}", runtime=f"rt-{number % 3}")
        host.tell(events.RunObserved(RunObservation(run=run, version=str(10 + 2 * number))))
        if leading and not number % 2:
            host.work()
        gone = events.RunGone(namespace=NAMESPACE, name=run.name, uid=run.uid, version=str(11 + 2 * number))
        host.tell(gone)
    host.work()
    host.advance(1)
    # Void rows of heaps are cleared away now and then, each 1,024th time.
    assert all(size < before[name] + 1_024 for name, size in host.engine.sizes.items())
    assert host.engine.sizes["runs"] == 0


def test_delays_of_runs_that_are_gone_leave_nothing_behind(profiles: Profiles) -> None:
    """A Run that waits for a time and is deleted must not stay until that time comes."""
    host = Host(profiles)
    before = host.engine.sizes
    for number in range(5_000):
        run = make_run(f"r{number}", attempt=9)
        seen = RunObservation(run=run, version=str(10 + 2 * number), stopped_at=NOW, backoff_seconds=60)
        host.tell(events.RunObserved(seen))
        host.work()
        gone = events.RunGone(namespace=NAMESPACE, name=run.name, uid=run.uid, version=str(11 + 2 * number))
        host.tell(gone)
    # Void timers are cleared away now and then, each 1,024th time.
    assert before["timers"] <= host.engine.sizes["timers"] < before["timers"] + 1_024
    host.advance(61)
    assert host.engine.sizes == before


def test_delays_that_still_count_end_in_order_after_void_ones_were_cleared_away(profiles: Profiles) -> None:
    host, random = Host(profiles), Random(7)
    left: dict[str, int] = {}
    for number in range(1_100):
        run, seconds = make_run(f"r{number}", attempt=2), random.randrange(1, 60)
        version = str(10 + 2 * number)
        seen = RunObservation(run=run, version=version, stopped_at=NOW, backoff_seconds=seconds)
        host.tell(events.RunObserved(seen))
        host.work()
        left[run.name] = seconds
        if number % 3:
            gone = random.choice(sorted(left))
            del left[gone]
            host.tell(
                events.RunGone(namespace=NAMESPACE, name=gone, uid=f"uid-{gone}", version=f"{version}1")
            )
    for passed in range(60):
        assert host.cycles == sum(seconds <= passed for seconds in left.values())
        host.advance(1)


def test_delays_that_still_count_outlive_those_of_runs_that_are_gone(profiles: Profiles) -> None:
    host = Host(profiles)
    for number in range(1_500):
        run = make_run(f"r{number}", attempt=9)
        seen = RunObservation(run=run, version=str(10 + 2 * number), stopped_at=NOW, backoff_seconds=60)
        host.tell(events.RunObserved(seen))
        host.work()
    assert host.engine.sizes["timers"] == 1_501  # and the sweep
    host.advance(59.9)
    assert host.cycles == 0
    host.advance(0.1)
    assert host.cycles == 1_500


def test_runs_that_are_gone_leave_the_class_in_which_another_waits_on(profiles: Profiles) -> None:
    host = Host(profiles)
    host.run("first")
    host.settle()
    entry = type(host.engine.find(NAMESPACE, "first"))

    def kept() -> int:
        gc.collect()
        return sum(type(one) is entry for one in gc.get_objects())

    before = kept()
    for number in range(3_000):
        run = make_run(f"r{number}")
        host.tell(events.RunObserved(RunObservation(run=run, version=str(10 + 2 * number))))
        host.work()
        gone = events.RunGone(namespace=NAMESPACE, name=run.name, uid=run.uid, version=str(11 + 2 * number))
        host.tell(gone)
    assert host.engine.sizes["unschedulable"] == 1
    assert kept() < before + 1_024
