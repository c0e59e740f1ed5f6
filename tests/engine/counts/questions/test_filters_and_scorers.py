"""A decision asks about the Pods that changed; and about all, if a state is new."""

from __future__ import annotations

from counting.crowd import Crowd

from kruntimes_core.model.selectors import Affinity
from kruntimes_core.testing import make_affinity, matching

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
