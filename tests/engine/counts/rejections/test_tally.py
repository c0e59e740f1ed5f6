"""Rejections are counted as the rule says, whatever was asked anew for them."""

from __future__ import annotations

from counting.crowd import Crowd


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
