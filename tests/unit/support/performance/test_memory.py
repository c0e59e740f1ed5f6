"""What a scheduler knows when its memory is measured, and the formula that comes of it."""

from __future__ import annotations

from collections import Counter

import pytest
from performance.memory.known import Known
from performance.memory.process import resident_bytes
from performance.memory.sizing import ALL, NOTHING, PODS, STEPS, Formula, formula, sizing

EXACT = Formula(base=70e6, pods=2e3, active=3e3, waiting=4e3, ended=1e3)
LEAST_BYTES = 20_000_000
"""No Python with our needs takes less."""


def test_so_much_of_each_is_known() -> None:
    known = Known(pods=2, active=3, waiting=4, ended=5)
    listed = list(known.objects())
    assert Counter(one["kind"] for one in listed) == {"Pod": 2, "Run": known.runs}
    runs = [one for one in listed if one["kind"] == "Run"]
    assert Counter(one["status"]["phase"] for one in runs) == {"Running": 3, "Pending": 4, "Succeeded": 5}
    pods = {one["metadata"]["uid"] for one in listed if one["kind"] == "Pod"}
    assert {one["status"]["assignedPodUID"] for one in runs[:3]} == pods
    assert len({one["metadata"]["uid"] for one in listed}) == len(listed)


def test_active_runs_have_room_and_those_that_wait_never() -> None:
    known = Known(pods=2, active=8, waiting=1)
    *_, waiting = known.objects()
    on_pods = Counter(one["status"].get("assignedPodUID") for one in known.objects() if one["kind"] == "Run")
    slots = {
        int(one["metadata"]["annotations"]["kruntimes.io/capacity.runs"])
        for one in known.objects()
        if one["kind"] == "Pod"
    }
    assert slots == {4}
    assert sorted(on_pods.values()) == [1, 4, 4]
    assert waiting["spec"]["resources"]["requests"] == {"runs": 5}


def test_a_formula_comes_of_the_steps() -> None:
    asked: list[Known] = []

    def taken(known: Known) -> float:
        asked.append(known)
        return EXACT.of(known)

    found = formula(taken)
    values = [found.base, found.pods, found.active, found.waiting, found.ended]
    assert values == pytest.approx([70e6, 2e3, 3e3, 4e3, 1e3])
    assert set(asked) == {NOTHING, *STEPS.values()}
    # What the formula is checked by is not in it.
    assert ALL not in asked


def test_the_formula_stands_beside_what_was_measured() -> None:
    measured = {known: EXACT.of(known) for known in (NOTHING, *STEPS.values())} | {ALL: 251e6}
    said, _, _, _, nothing, pods, *_, everything, _, last = sizing(measured.__getitem__)
    assert said == (
        "**70 MB, and 2.00 kB for each Pod, 3.00 kB for each Run on a Pod, 4.00 kB for each Run that waits,"
        " 1.00 kB for each Run that has ended**"
    )
    assert nothing == "| nothing | 0 | 0 | 0 | 0 | 70 | 70 |"
    assert pods == f"| pods | {PODS.pods:,} | 0 | 0 | 0 | 80 | 80 |"
    assert everything == "| all of it | 5,000 | 20,000 | 10,000 | 70,000 | 251 | 250 |"
    assert last == "All of it, 100,000 Runs and 5,000 Pods, takes 251 MB; the target is at most 250 MB."


def test_a_scheduler_is_measured_when_it_has_come_to_rest() -> None:
    assert resident_bytes(Known(pods=1, active=1, waiting=1, ended=1)) > LEAST_BYTES
