"""What a load consists of: where its Runs go, when they come, and that there is room for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kruntimes_core.lab.bench.live.load import FEWEST_SLOTS, BenchLoad, Mode, cell, cells
from kruntimes_core.model.messages import InputError


@pytest.mark.parametrize(("namespaces", "runtimes", "pods"), [(1, 1, 1), (2, 3, 6), (3, 3, 9), (50, 50, 200)])
def test_all_namespaces_and_runtimes_are_used_in_different_pairs(
    namespaces: int, runtimes: int, pods: int
) -> None:
    found = cells(BenchLoad(namespaces=namespaces, runtimes=runtimes, pods=pods))
    assert {one.namespace for one in found} == set(range(namespaces))
    assert {one.runtime for one in found} == set(range(runtimes))
    assert len(found) == min(namespaces * runtimes, pods)


@pytest.mark.parametrize(("namespaces", "runtimes"), [(3, 1), (1, 3)])
def test_each_place_needs_a_pod(namespaces: int, runtimes: int) -> None:
    with pytest.raises(InputError, match="--pods 2 is too few: give at least 3"):
        BenchLoad(pods=2, namespaces=namespaces, runtimes=runtimes).check()
    BenchLoad(pods=3, namespaces=namespaces, runtimes=runtimes).check()


@pytest.mark.parametrize("runs", [1, 19, 20, 21, 1_000])
def test_runs_that_stay_have_room_on_the_pods_of_their_place(runs: int) -> None:
    load = BenchLoad(mode=Mode.BURST, runs=runs, pods=20, namespaces=3, runtimes=2)
    room = dict.fromkeys(cells(load), 0)
    for number in range(load.pods):
        room[cell(load, number)] += load.slots_of_a_pod
    for number in range(runs):
        room[cell(load, number % load.pods)] -= 1
    assert min(room.values()) >= 0


@pytest.mark.parametrize(
    ("load", "most"),
    [
        (BenchLoad(mode=Mode.BURST, runs=5, pods=2), 5),
        (BenchLoad(mode=Mode.BURST, runs=5, pods=2, namespaces=2), 2),
        (BenchLoad(mode=Mode.BURST, runs=7, pods=6, namespaces=2), 3),
        # Places that get no Run at all do not count.
        (BenchLoad(mode=Mode.BURST, runs=2, pods=6, namespaces=3), 1),
        (BenchLoad(mode=Mode.OPEN, rate=2, seconds=4.9, pods=2), 9),
    ],
)
def test_each_cohort_has_a_run_in_each_place(load: BenchLoad, most: int) -> None:
    replace(load, cohorts=most).check()
    with pytest.raises(InputError, match=f"--cohorts {most + 1} are too many: .* gets {most} of the Runs"):
        replace(load, cohorts=most + 1).check()


def test_runs_that_end_need_less_room_and_cohorts_all_of_it() -> None:
    ending = BenchLoad(mode=Mode.OPEN, rate=40, seconds=30, pods=20, duration=(0.5, 0.5))
    assert ending.slots_of_a_pod == FEWEST_SLOTS
    assert BenchLoad(mode=Mode.OPEN, rate=40, seconds=30, pods=20).slots_of_a_pod == 120
    assert BenchLoad(runs=500, pods=20, cohorts=5).slots_of_a_pod == 500
    assert BenchLoad(slots=3).slots_of_a_pod == 3


def test_arrivals_depend_on_the_seed_and_the_round_alone() -> None:
    load = BenchLoad(mode=Mode.OPEN, rate=100, seconds=20, seed=1)
    moments = load.arrivals(1)
    assert moments == sorted(moments) == load.arrivals(1)
    assert moments != load.arrivals(2)
    assert moments[0] > 0
    assert moments[-1] < 20
    # Ten times the standard deviation of 2,000 arrivals.
    assert abs(len(moments) - 2_000) < 450


def test_at_once_means_at_once() -> None:
    assert BenchLoad(mode=Mode.BURST, runs=3).arrivals(1) == [0.0, 0.0, 0.0]


def test_durations_are_drawn_between_both_ends() -> None:
    load = BenchLoad(duration=(1.0, 2.0))
    drawn = [load.draw_seconds(f"run-{number}") for number in range(50)]
    assert len(set(drawn)) > 40
    assert all(seconds is not None and 1.0 <= seconds <= 2.0 for seconds in drawn)
    assert BenchLoad().draw_seconds("run-0") is None
