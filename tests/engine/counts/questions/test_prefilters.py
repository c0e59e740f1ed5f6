"""A prefilter is asked once for what Runs have in common, and again when what it read turns."""

from __future__ import annotations

from counting.crowd import Crowd

from kruntimes_core.model.selectors import Affinity
from kruntimes_core.testing import make_affinity, matching


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
