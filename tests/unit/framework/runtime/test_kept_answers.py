"""How many answers of plugins are kept: so many that memory has a bound, and those that were used last."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from typing import Any

import pytest

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner, ScheduleResult
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin


class Asked(Counter[int]):
    """How often a hook was called for each state."""

    def filter(self, pod: RuntimePod, state: int) -> Reject | None:
        self[state] += 1
        return None

    def score(self, pod: RuntimePod, state: int) -> int:
        self[state] += 1
        return 1


def runner_with(asked: Asked, hook: str, **arguments: Any) -> Runner:
    plugin = fake_plugin(prefilter=lambda request: request.get("size", 0), **{hook: getattr(asked, hook)})
    return Runner(Profile(plugins=(plugin,)), **arguments)


def plan(runner: Runner, snapshot: Any, state: int) -> None:
    assert isinstance(runner.plan(make_run(request={"size": state}), snapshot), ScheduleResult)


def test_of_more_than_thirty_two_thousand_states_those_that_were_used_last_are_kept() -> None:
    asked = Asked()
    runner, snapshot = runner_with(asked, "filter"), make_snapshot(make_pod("py-0"))
    for state in range(1, 32_001):
        plan(runner, snapshot, state)
    for state in range(1, 11):  # the oldest, which are used again
        plan(runner, snapshot, state)
    for state in range(32_001, 33_001):
        plan(runner, snapshot, state)
    assert set(asked.values()) == {1}
    for state in [*range(1, 11), *range(23_001, 33_001, 9)]:
        plan(runner, snapshot, state)
    assert set(asked.values()) == {1}
    for state in range(11, 111):
        plan(runner, snapshot, state)
    assert Counter(asked.values()) == {1: 32_900, 2: 100}


@pytest.mark.parametrize(("hook", "arguments"), [("score", {}), ("filter", {"records": True})])
def test_a_quarter_of_a_million_answers_about_many_pods_are_kept(hook: str, arguments: Any) -> None:
    """Scores, and verdicts that are recorded, take room for each Pod: states times Pods is what counts."""
    asked, pods = Asked(), 1_000
    runner = runner_with(asked, hook, **arguments)
    snapshot = make_snapshot(*[make_pod(f"py-{number:04}") for number in range(pods)])
    for state in [*range(1, 251), 2]:
        plan(runner, snapshot, state)
    assert set(asked.values()) == {pods}
    plan(runner, snapshot, 251)
    for state in [251, 2, *range(250, 100, -1)]:  # the second was used late
        plan(runner, snapshot, state)
    assert set(asked.values()) == {pods}
    plan(runner, snapshot, 1)
    assert asked[1] == 2 * pods


def test_the_answers_about_pods_that_came_later_count_too() -> None:
    """Columns that were small when they were made have grown with their Runtime."""
    asked = Asked()
    runner, few = runner_with(asked, "score"), make_snapshot(make_pod("py-0"))
    for state in range(1, 601):
        plan(runner, few, state)
    pods = [make_pod(f"py-{number:04}") for number in range(1_000)]
    many = make_snapshot(make_pod("py-0"), *pods)
    for state in range(1, 601):
        plan(runner, many, state)
    asked.clear()
    plan(runner, many, 600)
    assert asked == {}
    plan(runner, many, 1)
    assert asked[1] == 1_001


def test_the_answers_about_four_thousand_runtimes_are_kept_and_of_more_those_about_the_latest() -> None:
    asked = Asked()
    runner = runner_with(asked, "filter")
    names = [f"rt-{number}" for number in range(4_097)]
    snapshots = [make_snapshot(make_pod("py-0", runtime=name), runtime=name) for name in names]
    for snapshot in [*snapshots[:4_096], snapshots[0]]:
        plan(runner, snapshot, 1)
    assert asked == {1: 4_096}
    for snapshot in [snapshots[4_096], snapshots[1], snapshots[4_096]]:
        plan(runner, snapshot, 1)
    assert asked == {1: 4_097}
    plan(runner, snapshots[0], 1)
    assert asked == {1: 4_098}


def test_pods_that_come_and_go_take_no_room() -> None:
    """As where a Deployment replaces its Pods for months: each has a new name, and a score of its own."""
    plugin = fake_plugin(
        filter=lambda pod: None,
        score=lambda pod: int(pod.name[3:]),
        normalize=lambda scores: [0 for _ in scores],
    )
    runner, run = Runner(Profile(plugins=(plugin,))), make_run("r")

    def kept(numbers: range) -> int:
        for number in numbers:
            assert isinstance(runner.plan(run, make_snapshot(make_pod(f"py-{number}"))), ScheduleResult)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = kept(range(500))
        assert kept(range(500, 2_500)) < before + 8_000
    finally:
        tracemalloc.stop()
