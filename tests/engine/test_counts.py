"""What a decision costs, in questions to plugins and in cycles: counts, not times."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kruntimes_core.engine import events
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runner import Prepared
from kruntimes_core.framework.runner.columns import Columns, Effort
from kruntimes_core.framework.runner.combinations import Combinations
from kruntimes_core.framework.runner.pool import Pool
from kruntimes_core.framework.runner.preparing import PreFilters
from kruntimes_core.framework.runner.verdicts import Verdicts, checked
from kruntimes_core.model.affinity import Affinity
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.testing import make_affinity, make_pod, make_run, make_snapshot, matching
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS as PODS_KIND
from kruntimes_core.testing.harness import WORKSPACES, Host
from kruntimes_core.testing.plugins import Calls, fake_plugin, watched

PODS = 1_000


class Crowd:
    """A host fed with values directly, and the calls of its plugins."""

    def __init__(self, profiles: Profiles) -> None:
        observed, self.calls = watched(profiles)
        self.host = Host(observed)
        self._version = 1_000_000

    def version(self) -> str:
        self._version += 1
        return str(self._version)

    def pods(self, number: int, runs: int = 2) -> None:
        for index in range(number):
            self.pod(f"py-{index:04}", runs)

    def pod(self, name: str, runs: int = 2, **fields: Any) -> None:
        pod = make_pod(name, capacity={"runs": runs}, **fields)
        observation = PodObservation(pod=pod, version=self.version(), probed_at=self.host.now.wall)
        self.host.tell(events.PodObserved(observation))

    def run(self, name: str, pod: str | None = None, **fields: Any) -> None:
        run = make_run(name, **fields)
        observation = RunObservation(
            run=run,
            version=self.version(),
            phase=Phase.PENDING if pod is None else Phase.RUNNING,
            assigned_pod=pod,
            assigned_pod_uid=None if pod is None else f"uid-{pod}",
            held=run.request,
        )
        self.host.tell(events.RunObserved(observation))

    def asked(self) -> Counter[str]:
        """How often each hook was asked since the last time."""
        hooks = self.calls.hooks
        self.calls.clear()
        return hooks

    def decide(self) -> Counter[str]:
        self.host.work()
        return self.asked()

    def placed(self, name: str) -> str | None:
        entry = self.host.engine.find(NAMESPACE, name)
        assert entry is not None
        return entry.assumption.pod.name if entry.assumption is not None else None


@pytest.fixture
def crowd(profiles: Profiles) -> Crowd:
    return Crowd(profiles)


def questions(calls: Calls, hook: str) -> set[tuple[str, str]]:
    return {(plugin, arguments["pod"].name) for plugin, asked, arguments in calls if asked == hook}


def test_after_the_first_decision_the_next_asks_only_for_the_pod_that_changed(crowd: Crowd) -> None:
    crowd.pods(PODS)
    crowd.run("r0")
    first = crowd.decide()
    assert first["filter"] == 3 * PODS
    assert first["score"] == 2 * PODS
    for number in range(1, 6):
        chosen = crowd.placed(f"r{number - 1}")
        assert chosen is not None
        crowd.run(f"r{number}")
        crowd.host.work()
        assert questions(crowd.calls, "filter") == {
            (name, chosen) for name in ("RuntimePodAvailability", "RunAffinity", "WorkspacePlacement")
        }
        assert questions(crowd.calls, "score") == {
            (name, chosen) for name in ("PreferredRunAffinity", "LeastLoaded")
        }
        assert crowd.asked()["filter"] == 3


def test_a_heartbeat_that_changes_nothing_asks_nobody_and_starts_no_cycle(crowd: Crowd) -> None:
    crowd.pods(50, runs=1)
    for number in range(50):
        crowd.run(f"x{number}", pod=f"py-{number:04}")
    crowd.run("r")
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.host.jump(5)
    crowd.pods(50, runs=1)
    assert crowd.decide() == Counter()
    assert crowd.host.cycles == cycles


def test_ten_thousand_waiting_runs_of_twenty_classes_cost_twenty_evaluations(crowd: Crowd) -> None:
    crowd.pod("py-0000", runs=1)
    crowd.run("x", pod="py-0000")
    for number in range(10_000):
        crowd.run(f"r{number}", request={"gpu": 1 + number % 20})
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.pod("py-0000", runs=2)
    asked = crowd.decide()
    assert crowd.host.cycles - cycles == 20
    assert asked["filter"] == 20
    assert asked["score"] == 0


def test_a_freed_slot_costs_one_evaluation_a_class_and_one_cycle_for_the_run_placed(crowd: Crowd) -> None:
    crowd.pod("py-0000", runs=1)
    crowd.run("x", pod="py-0000")
    for number in range(1_000):
        crowd.run(f"r{number:04}", request={"gpu": number % 10} if number % 10 else None)
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.pod("py-0000", runs=2)
    crowd.host.work()
    assert crowd.placed("r0000") == "py-0000"
    # The ten classes, once each; that of the placed Run once more, by its next Run.
    assert crowd.host.cycles - cycles <= 20


def test_a_new_affinity_state_with_a_known_request_does_not_ask_for_availability_again(
    crowd: Crowd,
) -> None:
    crowd.pods(100)
    crowd.run("plain")
    crowd.decide()
    crowd.run("tied", affinity=make_affinity(required_anti=[matching(app="z")]))
    crowd.host.work()
    assert crowd.calls.count("filter", "RuntimePodAvailability") == 1
    assert crowd.calls.count("filter", "RunAffinity") == 100


def test_prefilters_are_asked_once_for_equal_inputs(crowd: Crowd) -> None:
    for number in range(200):
        crowd.run(f"r{number}", request={"gpu": 1 + number % 4})
    asked = crowd.decide()
    # Four requests, asked of the two that name it; one affinity of three, one workspace of one.
    assert asked["prefilter"] == 2 * 4 + 3
    crowd.run("one-more", request={"gpu": 1})
    assert crowd.decide()["prefilter"] == 0


def test_a_prefilter_that_read_a_target_is_asked_again_only_when_that_answer_turns(crowd: Crowd) -> None:
    tied: Affinity = make_affinity(required=[matching(app="a")])
    crowd.pods(2, runs=100)
    crowd.run("r", affinity=tied)
    crowd.decide()
    for number in range(20):
        crowd.run(f"other{number}", labels={"app": f"b{number}"}, pod="py-0000")
    crowd.run("r2", affinity=tied)
    crowd.host.work()
    assert crowd.calls.count("prefilter", "RunAffinity") == 0
    crowd.run("t", labels={"app": "a"}, pod="py-0001")
    crowd.host.work()
    assert crowd.calls.count("prefilter", "RunAffinity") == 1
    assert (crowd.placed("r"), crowd.placed("r2")) == ("py-0001", "py-0001")


def test_a_state_that_is_the_same_as_before_asks_no_filter_again(crowd: Crowd) -> None:
    """A prefilter may be asked again and give an equal state: what was answered from it holds."""
    tied: Affinity = make_affinity(required=[matching(app="a")])
    crowd.pods(50, runs=100)
    crowd.run("t", labels={"app": "a"}, pod="py-0001")
    crowd.run("r", affinity=tied)
    crowd.decide()
    for number in range(3):
        crowd.run(f"r{number}", affinity=make_affinity(required=[matching(app="a")]))
        assert crowd.decide()["filter"] <= 3


def test_rejections_are_counted_logically_whether_reused_or_not(crowd: Crowd) -> None:
    crowd.pods(10, runs=1)
    for number in range(10):
        crowd.run(f"x{number}", pod=f"py-{number:04}")
    for number in range(5):
        crowd.run(f"r{number}")
    crowd.decide()
    rejections = crowd.host.engine.tally.filter_rejections
    assert rejections == {("RuntimePodAvailability", "InsufficientCapacity"): 50}


def test_a_pod_that_is_rejected_as_before_leaves_no_trace_of_its_former_verdict(crowd: Crowd) -> None:
    """Counts of rejections follow the Pods, however often they change."""
    crowd.pods(3, runs=1)
    for number in range(3):
        crowd.run(f"x{number}", pod=f"py-{number:04}")
    crowd.run("r")
    crowd.decide()
    for turn in range(50):
        crowd.pod("py-0001", runs=1, annotations={"turn": str(turn)})
        crowd.host.work()
    crowd.host.engine.tally.filter_rejections.clear()
    crowd.run("r2")
    crowd.decide()
    assert crowd.host.engine.tally.filter_rejections == {
        ("RuntimePodAvailability", "InsufficientCapacity"): 3
    }


def test_the_tables_shrink_back_when_all_runs_are_gone(crowd: Crowd) -> None:
    crowd.pods(20, runs=2)
    before = crowd.host.engine.sizes
    for number in range(2_000):
        crowd.run(f"r{number}", request={"gpu": 1} if number % 2 else None, labels={"n": str(number % 7)})
    crowd.host.settle()
    for number in range(2_000):
        uid = f"uid-r{number}"
        crowd.host.tell(events.RunGone(namespace=NAMESPACE, name=f"r{number}", uid=uid))
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


def test_namespaces_that_come_and_go_leave_nothing_behind(host: Host) -> None:
    for number in range(50):
        namespace = f"ns-{number}"
        host.pod("py-0", namespace=namespace)
        host.workspace("ws", namespace=namespace)
        host.run("r", namespace=namespace, uid=f"uid-{number}")
        host.run("waits", namespace=namespace, requests={"gpu": "1"})
        host.settle()
        assert host.pod_of("r", namespace) == "py-0"
        assert host.engine.state.namespaces == 1
        host.delete("r", namespace)
        host.delete("waits", namespace)
        host.delete("py-0", namespace, PODS_KIND)
        host.delete("ws", namespace, WORKSPACES)
        host.settle()
    assert host.engine.state.namespaces == 0


def test_states_of_runtimes_without_pods_are_forgotten_in_time() -> None:
    plugin = fake_plugin(filter=lambda pod, state: None, prefilter=lambda request: request)
    columns = Columns(plugin, "filter", 0, Verdicts, checked, Effort(), kept=1_000)
    prefilters = PreFilters(Profile(plugins=(plugin,)))
    combinations = Combinations((columns,), ())
    nothing, pool = make_snapshot(), Pool()
    for number in range(40_000):
        run = make_run(request={"size": number + 1})
        prepared = prefilters.prepare(run, nothing)
        assert isinstance(prepared, Prepared)
        combinations.of(pool, prepared, run)
    assert len(columns) <= 32_768


def test_runtimes_that_runs_only_name_leave_nothing_behind(profiles: Profiles) -> None:
    host = Host(profiles)
    pods = {id(host.engine.state.snapshot(NAMESPACE, f"rt-{number}", NOW).pods) for number in range(100)}
    assert len(pods) == 1


def test_the_first_pods_of_two_runtimes_are_each_found(crowd: Crowd) -> None:
    """Runtimes without Pods share an object, and do not mix up what changed in the one and the other."""
    for runtime in ("a", "b"):
        crowd.run(f"run-{runtime}", runtime=runtime)
    crowd.decide()
    for runtime in ("b", "a"):
        crowd.pod(f"pod-{runtime}", runtime=runtime)
        crowd.decide()
    assert (crowd.placed("run-a"), crowd.placed("run-b")) == ("pod-a", "pod-b")
