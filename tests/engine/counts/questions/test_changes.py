"""A change of a Pod is judged once by each filter for each of its states, however many classes share it.

Two filters look at a label each, so there are as many classes as pairs of labels; Pods pass the first
filter and not the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from counting.crowd import Crowd

from kruntimes_core import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

Question = tuple[str, object, str]
"""Plugin, state and Pod."""


def looking_at(label: str, *, rejects: bool) -> ActivePlugin:
    """A filter whose state is one label of the Run."""
    answer = Reject("Shut") if rejects else None
    return fake_plugin(
        label,
        prefilter=lambda labels: labels[label],
        filter=lambda pod, state: answer,
        score=lambda pod: 1,
        reasons=["Shut"],
    )


def waiting(runs: int, colours: int, sizes: int, pods: int = 10) -> Crowd:
    """Runs of all pairs of labels that fit nowhere, and have been told so."""
    crowd = Crowd(profiles_of(looking_at("colour", rejects=False), looking_at("size", rejects=True)))
    crowd.make_pods(pods)
    for number in range(runs):
        labels = {"colour": str(number % colours), "size": str(number // colours % sizes)}
        crowd.observation(f"r-{number:05}", labels=labels)
    crowd.list_runs()
    crowd.settle()
    assert crowd.host.engine.sizes["classes"] == colours * sizes
    return crowd


def change(crowd: Crowd, *pods: int, times: int = 1) -> None:
    """See Pods in a newer version, as often as said."""
    for turn in range(times):
        for pod in pods:
            crowd.see_pod(f"py-{pod:04}", annotations={"turn": str(turn)})


def judged(crowd: Crowd, action: Callable[[], object]) -> Counter[Question]:
    """Which filter was asked about which Pod for which state, in all that follows from an action."""
    done = crowd.count(action)
    assert (done.writes, done.asked["prefilter"], done.asked["score"]) == ((), 0, 0)
    return Counter(
        (plugin, arguments["state"], arguments["pod"].name)
        for plugin, hook, arguments in crowd.calls
        if hook == "filter"
    )


def once_each(colours: int, sizes: int, *pods: int) -> Counter[Question]:
    """Each filter once about each Pod for each of its states."""
    states = [("colour", str(state)) for state in range(colours)]
    states += [("size", str(state)) for state in range(sizes)]
    return Counter((plugin, state, f"py-{pod:04}") for plugin, state in states for pod in pods)


def test_one_change_beside_ten_thousand_runs_of_twenty_classes() -> None:
    crowd = waiting(10_000, colours=4, sizes=5)
    assert judged(crowd, lambda: change(crowd, 3)) == once_each(4, 5, 3)


def test_many_changes_seen_together() -> None:
    crowd = waiting(10_000, colours=4, sizes=5)
    assert judged(crowd, lambda: change(crowd, *range(10))) == once_each(4, 5, *range(10))


def test_many_changes_of_one_pod_seen_together_are_one() -> None:
    crowd = waiting(10_000, colours=4, sizes=5)
    assert judged(crowd, lambda: change(crowd, 3, times=50)) == once_each(4, 5, 3)


def test_many_changes_one_after_the_other() -> None:
    crowd = waiting(10_000, colours=4, sizes=5)
    for pod in range(10):
        assert judged(crowd, partial(change, crowd, pod)) == once_each(4, 5, pod)


def test_changes_that_come_while_others_are_offered() -> None:
    """What is seen in the middle of a round is judged once too, after it."""
    crowd = waiting(10_000, colours=4, sizes=5)
    change(crowd, 1)
    work = crowd.host.take()

    def go_on() -> None:
        change(crowd, 2)
        crowd.host.finish(work)

    assert judged(crowd, go_on) == once_each(4, 5, 1, 2)


def test_more_classes_than_a_round_takes() -> None:
    """Two hundred classes are offered in several rounds, and their states are still asked once."""
    crowd = waiting(10_000, colours=10, sizes=20)
    assert judged(crowd, lambda: change(crowd, 3)) == once_each(10, 20, 3)


@pytest.mark.parametrize(
    ("small", "large", "factor"),
    [
        pytest.param((500, 4, 5, 10), (1_000, 4, 5, 10), 1, id="runs"),
        pytest.param((500, 4, 5, 10), (500, 4, 5, 20), 1, id="pods"),
        pytest.param((500, 4, 5, 10), (500, 8, 10, 10), 2, id="states"),
        pytest.param((500, 1, 12, 10), (500, 1, 24, 10), 25 / 13, id="states of one filter"),
    ],
)
def test_what_a_change_costs_in_twice_the_size(
    small: tuple[int, int, int, int], large: tuple[int, int, int, int], factor: float
) -> None:
    """It follows the states, not the Runs or Pods; twice the states are four times the classes."""
    asked = []
    for runs, colours, sizes, pods in (small, large):
        crowd = waiting(runs, colours, sizes, pods)
        asked.append(judged(crowd, partial(change, crowd, 3)).total())
    assert asked[1] == asked[0] * factor


def test_twice_the_changes_cost_twice_as_much() -> None:
    crowd = waiting(500, colours=4, sizes=5, pods=20)
    few = judged(crowd, lambda: change(crowd, *range(10))).total()
    assert judged(crowd, lambda: change(crowd, *range(20), times=2)).total() == 2 * few
