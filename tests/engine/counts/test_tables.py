"""Tables shrink again, and counters count each rejection."""

from __future__ import annotations

import gc
from collections import Counter
from random import Random

import pytest
from counting.crowd import Crowd

from kruntimes_core.engine import events
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.framework.runtime.filter import FilterAnswers
from kruntimes_core.framework.runtime.pod_set import PodSet
from kruntimes_core.framework.runtime.prefilter import PreFilters
from kruntimes_core.framework.runtime.result_cache import HookCache, PlanInputs, ResultCache
from kruntimes_core.framework.runtime.score import ScoreAnswers
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import make_run, make_snapshot
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, WORKSPACES, Host
from kruntimes_core.testing.plugins import fake_plugin

# Namespaces and Runtimes that are gone, or that only Runs name, have no rows.


OURS = ("kruntimes_core.engine", "kruntimes_core.framework", "kruntimes_core.model")


def test_namespaces_that_come_and_go_leave_nothing_behind(host: Host) -> None:
    for number in range(50):
        namespace = f"ns-{number}"
        host.pod("py-0", namespace=namespace)
        host.workspace("ws", namespace=namespace)
        host.run("r", namespace=namespace, uid=f"uid-{number}")
        host.run("waits", namespace=namespace, requests={"gpu": "1"})
        host.settle()
        assert host.pod_of("r", namespace) == "py-0"
        assert host.engine.cache.namespaces == 1
        host.delete("r", namespace)
        host.delete("waits", namespace)
        host.delete("py-0", namespace, PODS)
        host.delete("ws", namespace, WORKSPACES)
        host.settle()
    assert host.engine.cache.namespaces == 0


def test_runtimes_that_runs_only_name_leave_nothing_behind(profiles: Profiles) -> None:
    host = Host(profiles)
    pods = {id(host.engine.cache.snapshot(NAMESPACE, f"rt-{number}", NOW).pods) for number in range(100)}
    assert len(pods) == 1


def test_the_first_pods_of_two_runtimes_are_each_found(crowd: Crowd) -> None:
    """Runtimes without Pods share an object, and do not mix up what changed in the one and the other."""
    for runtime in ("a", "b"):
        crowd.see_run(f"run-{runtime}", runtime=runtime)
    crowd.decide()
    for runtime in ("b", "a"):
        crowd.see_pod(f"pod-{runtime}", runtime=runtime)
        crowd.decide()
    assert (crowd.assumed("run-a"), crowd.assumed("run-b")) == ("pod-a", "pod-b")


def test_pods_and_runs_that_come_and_go_leave_no_objects_behind(host: Host) -> None:
    """Besides the latest decisions and heartbeats, of which so many are kept and no more."""

    def turn(number: int) -> None:
        host.pod(f"py-{number}", uid=f"pod-{number}")
        host.run(f"r{number}", uid=f"run-{number}")
        host.settle()
        assert host.pod_of(f"r{number}") == f"py-{number}"
        host.end(f"r{number}")
        host.settle()
        host.delete(f"r{number}")
        host.delete(f"py-{number}", kind=PODS)
        host.settle()

    def objects() -> Counter[str]:
        host.requests.clear()
        host.server.accepted.clear()
        gc.collect()
        kinds = [type(one) for one in gc.get_objects()]
        return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith(OURS))

    for number in range(1_100):
        turn(number)
    before = objects()
    for number in range(1_100, 1_150):
        turn(number)
    assert objects() - before == Counter()


# How many answers are kept: those of the states that were used last.


def test_states_of_runtimes_without_pods_are_forgotten_in_time() -> None:
    plugin = fake_plugin(filter=lambda pod, state: None, prefilter=lambda request: request)
    profile = Profile(plugins=(plugin,))
    answers = HookCache(profile, plugin, "filter", FilterAnswers)
    prefilters = PreFilters(profile)
    cache: ResultCache[FilterAnswers, ScoreAnswers] = ResultCache((answers,), ())
    nothing, pods = make_snapshot(), PodSet()
    for number in range(40_000):
        run = make_run(request={"size": number + 1})
        state = prefilters.run(run, nothing)
        assert isinstance(state, PreFilterState)
        cache.of(PlanInputs(run, nothing, state, pods))
    assert len(answers) <= 32_768


# How many rows the tables have: as many as there are Runs, and none when those are gone.


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


# Rejections are counted as the rule says, whatever was asked anew for them.


def test_rejections_are_counted_logically_whether_reused_or_not(crowd: Crowd) -> None:
    crowd.make_pods(10, runs=1)
    for number in range(10):
        crowd.see_run(f"x{number}", pod=f"py-{number:04}")
    for number in range(5):
        crowd.see_run(f"r{number}")
    crowd.decide()
    rejections = crowd.host.engine.counters.filter_rejections
    assert rejections == {("RuntimePodAvailability", "InsufficientCapacity"): 50}


def test_a_pod_that_is_rejected_as_before_leaves_no_trace_of_its_former_verdict(crowd: Crowd) -> None:
    """Counts of rejections follow the Pods, however often they change."""
    crowd.make_pods(3, runs=1)
    for number in range(3):
        crowd.see_run(f"x{number}", pod=f"py-{number:04}")
    crowd.see_run("r")
    crowd.decide()
    for turn in range(50):
        crowd.see_pod("py-0001", runs=1, annotations={"turn": str(turn)})
        crowd.decide()
    crowd.host.engine.counters.filter_rejections.clear()
    crowd.see_run("r2")
    crowd.decide()
    assert crowd.host.engine.counters.filter_rejections == {
        ("RuntimePodAvailability", "InsufficientCapacity"): 3
    }
