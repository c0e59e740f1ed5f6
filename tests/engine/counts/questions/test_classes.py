"""What a changed Pod costs beside thousands that wait: an evaluation for each class of them."""

from __future__ import annotations

from counting.crowd import Crowd


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
