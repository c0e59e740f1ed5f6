"""How often hooks are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from counting.crowd import Crowd

from kruntimes_core import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.selectors import Affinity
from kruntimes_core.testing import make_affinity, matching
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

# A change of a Pod is judged once by each filter for each of its states, however many classes share it.


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


# What a changed Pod costs beside thousands that wait: an evaluation for each class of them.


def test_ten_thousand_waiting_runs_of_twenty_classes_cost_twenty_evaluations(crowd: Crowd) -> None:
    crowd.see_pod("py-0000", runs=1)
    crowd.see_run("x", pod="py-0000")
    for number in range(10_000):
        crowd.see_run(f"r{number}", request={"gpu": 1 + number % 20})
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.see_pod("py-0000", runs=2)
    asked = crowd.decide()
    assert crowd.host.cycles - cycles == 20
    assert asked["filter"] == 20
    assert asked["score"] == 0


def test_a_freed_slot_costs_one_evaluation_a_class_and_one_cycle_for_the_run_placed(crowd: Crowd) -> None:
    crowd.see_pod("py-0000", runs=1)
    crowd.see_run("x", pod="py-0000")
    for number in range(1_000):
        crowd.see_run(f"r{number:04}", request={"gpu": number % 10} if number % 10 else None)
    crowd.decide()
    cycles = crowd.host.cycles
    crowd.see_pod("py-0000", runs=2)
    crowd.decide()
    assert crowd.assumed("r0000") == "py-0000"
    # The ten classes, once each; that of the placed Run once more, by its next Run.
    assert crowd.host.cycles - cycles == 11


# A decision asks about the Pods that changed; and about all, if a state is new.


PODS = 1_000


def questions(crowd: Crowd, hook: str) -> set[tuple[str, str]]:
    """Which plugin was asked about which Pod."""
    return {(plugin, arguments["pod"].name) for plugin, asked, arguments in crowd.calls if asked == hook}


def test_after_the_first_decision_the_next_asks_only_for_the_pod_that_changed(crowd: Crowd) -> None:
    crowd.make_pods(PODS)
    crowd.see_run("r0")
    first = crowd.decide()
    assert first["filter"] == 3 * PODS
    assert first["score"] == 2 * PODS
    for number in range(1, 6):
        chosen = crowd.assumed(f"r{number - 1}")
        assert chosen is not None
        crowd.see_run(f"r{number}")
        asked = crowd.decide()
        assert questions(crowd, "filter") == {
            (name, chosen) for name in ("RuntimePodAvailability", "RunAffinity", "WorkspacePlacement")
        }
        assert questions(crowd, "score") == {
            (name, chosen) for name in ("PreferredRunAffinity", "LeastLoaded")
        }
        assert asked["filter"] == 3


def test_a_new_affinity_state_with_a_known_request_does_not_ask_for_availability_again(
    crowd: Crowd,
) -> None:
    crowd.make_pods(100)
    crowd.see_run("plain")
    crowd.decide()
    crowd.see_run("tied", affinity=make_affinity(required_anti=[matching(app="z")]))
    crowd.decide()
    assert crowd.calls.count("filter", "RuntimePodAvailability") == 1
    assert crowd.calls.count("filter", "RunAffinity") == 100


def test_a_state_that_is_the_same_as_before_asks_no_filter_again(crowd: Crowd) -> None:
    """A prefilter may be asked again and give an equal state: what was answered from it holds."""
    tied: Affinity = make_affinity(required=[matching(app="a")])
    crowd.make_pods(50, runs=100)
    crowd.see_run("t", labels={"app": "a"}, pod="py-0001")
    crowd.see_run("r", affinity=tied)
    crowd.decide()
    for number in range(3):
        crowd.see_run(f"r{number}", affinity=make_affinity(required=[matching(app="a")]))
        assert crowd.decide()["filter"] <= 3


def test_a_run_of_a_cohort_asks_about_the_pods_that_changed_since_the_last_one(crowd: Crowd) -> None:
    cohorts = [f"c{number}" for number in range(5)]
    crowd.make_pods(50, runs=100)
    asked = []
    for number in range(4):
        for cohort in cohorts:
            tied = make_affinity(required=[matching(app=cohort)])
            crowd.see_run(f"{cohort}-{number}", labels={"app": cohort}, affinity=tied)
            crowd.decide()
            asked.append(crowd.calls.count("filter", "RunAffinity"))
    # The first Run of each is free to go anywhere, so its state is that of a Run without wishes. The second
    # has a state of its own. Later ones: the Pods of the five cohorts, where a Run was placed since.
    assert asked[5:] == 5 * [50] + 10 * [5]
    assert {crowd.assumed(f"c0-{number}") for number in range(4)} == {crowd.assumed("c0-0")}


# A prefilter is asked once for what Runs have in common, and again when what it read turns.


def test_prefilters_are_asked_once_for_equal_inputs(crowd: Crowd) -> None:
    for number in range(200):
        crowd.see_run(f"r{number}", request={"gpu": 1 + number % 4})
    asked = crowd.decide()
    # Four requests, asked of the two that name it; one affinity of three, one workspace of one.
    assert asked["prefilter"] == 2 * 4 + 3
    crowd.see_run("one-more", request={"gpu": 1})
    assert crowd.decide()["prefilter"] == 0


def test_a_prefilter_that_read_a_target_is_asked_again_only_when_that_answer_turns(crowd: Crowd) -> None:
    tied: Affinity = make_affinity(required=[matching(app="a")])
    crowd.make_pods(2, runs=100)
    crowd.see_run("r", affinity=tied)
    crowd.decide()
    for number in range(20):
        crowd.see_run(f"other{number}", labels={"app": f"b{number}"}, pod="py-0000")
    crowd.see_run("r2", affinity=tied)
    crowd.decide()
    assert crowd.calls.count("prefilter", "RunAffinity") == 0
    crowd.see_run("t", labels={"app": "a"}, pod="py-0001")
    crowd.decide()
    assert crowd.calls.count("prefilter", "RunAffinity") == 1
    assert (crowd.assumed("r"), crowd.assumed("r2")) == ("py-0001", "py-0001")
