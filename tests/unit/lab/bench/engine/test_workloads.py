"""Every workload does what it says, as often as it says, and leaves its cluster as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from kruntimes_core import Reject
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.driver import EngineSetup, Stopwatch, prepared
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS, Timed, Workload
from kruntimes_core.lab.bench.figures import BYTES, MEGABYTES, MILLISECONDS, Quantity
from kruntimes_core.model.messages import InputError
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

TIMED = {workload.name: workload for workload in WORKLOADS if isinstance(workload, Timed)}
OTHERS: Mapping[str, Workload] = {one.name: one for one in WORKLOADS if one.name not in TIMED}
MakeMeans = Callable[[Profiles], EngineSetup]
POOLS: tuple[dict[str, int], ...] = ({}, {"namespaces": 2}, {"runtimes": 3})


@pytest.mark.parametrize("pools", POOLS, ids=str)
@pytest.mark.parametrize("name", TIMED)
def test_a_repeat_does_it_as_often_as_it_says(
    name: str, pools: dict[str, int], means: EngineSetup, tiny: Shape
) -> None:
    workload, shape = TIMED[name], replace(tiny, **pools)
    rounds = list(workload.repeats(shape, means, 3))
    assert len(rounds) == 3
    assert {done.units for done in rounds} == {6 if name == "heartbeats" else 1 if name == "restart" else 8}
    if workload.places:
        assert [done.placed for done in rounds] == [8, 8, 8]


@pytest.mark.parametrize("name", TIMED)
def test_a_repeat_leaves_everything_as_it_was(name: str, means: EngineSetup, tiny: Shape) -> None:
    workload = TIMED[name]
    site, watch = workload.prepare(tiny, means), Stopwatch(means.clock)
    workload.repeat(site, watch)
    before, lives = site.engine.sizes, len(site.runs)
    workload.repeat(site, watch)
    assert {name: size for name, size in site.engine.sizes.items() if name != "timers"} == {
        name: size for name, size in before.items() if name != "timers"
    }
    assert len(site.runs) == lives


@pytest.mark.parametrize("name", TIMED)
def test_parts_add_up_to_the_whole(name: str, means: EngineSetup, tiny: Shape) -> None:
    counting = iter(range(0, 10**9, 1_000))
    slow = replace(means, clock=lambda: next(counting))
    (sample,) = TIMED[name].samples(tiny, slow, 1)
    parts = {quantity.name: value for quantity, value in sample.items()}
    whole = parts.pop("whole")
    assert whole > 0
    assert whole == pytest.approx(sum(parts.values()))


def test_a_slot_goes_to_the_run_that_waits_longest(means: EngineSetup, tiny: Shape) -> None:
    site = TIMED["freed-slot"].prepare(tiny, means)
    first = next(life for life in site.runs.values() if life.pod is None)
    TIMED["freed-slot"].repeat(site, Stopwatch(means.clock))
    assert first.pod is not None


def test_runs_without_cohorts_on_pods_still_find_theirs(means: EngineSetup, tiny: Shape) -> None:
    (done,) = TIMED["affinity"].repeats(replace(tiny, known=0), means, 1)
    assert done.placed == tiny.runs


@pytest.mark.parametrize("name", TIMED)
def test_plugins_that_place_nothing_are_measured_too(name: str, means_of: MakeMeans, tiny: Shape) -> None:
    never = fake_plugin(reasons=["Never"], filter=lambda pod: Reject("Never"))
    (done,) = TIMED[name].repeats(tiny, means_of(profiles_of(never)), 1)
    assert done.placed == 0
    assert done.units > 0


@pytest.mark.parametrize("name", TIMED)
def test_nobody_waits_and_nothing_else_is_known(name: str, means: EngineSetup, tiny: Shape) -> None:
    (done,) = TIMED[name].repeats(replace(tiny, known=0, waiting=0, runs=1), means, 1)
    assert done.units == (tiny.pods if name == "heartbeats" else 1)


@pytest.mark.parametrize("name", [name for name, one in TIMED.items() if one.places])
def test_a_broken_plugin_is_named(name: str, means_of: MakeMeans, tiny: Shape) -> None:
    def fail(pod: object) -> None:
        raise LookupError("no such thing")

    broken = means_of(profiles_of(fake_plugin("Broken", filter=fail)))
    with pytest.raises(InputError, match=r"^plugin Broken .* failed in filter: LookupError: no such thing: "):
        list(TIMED[name].samples(tiny, broken, 1))


def test_pauses_are_measured_and_nothing_is_left_behind(means: EngineSetup, tiny: Shape) -> None:
    before = (list(gc.callbacks), gc.get_threshold(), gc.isenabled())
    samples = list(OTHERS["pauses"].samples(tiny, means, 2))
    assert (list(gc.callbacks), gc.get_threshold(), gc.isenabled()) == before
    assert len(samples) == 2
    assert {quantity.unit for sample in samples for quantity in sample} == {MILLISECONDS}


def test_memory_is_that_of_another_process(means: EngineSetup, tiny: Shape) -> None:
    (found,) = OTHERS["memory"].samples(replace(tiny, known=2_000), means, 1)
    assert found[Quantity("in all", MEGABYTES)] >= found[Quantity("before the lists", MEGABYTES)] > 1
    assert 100 < found[Quantity("a Run", BYTES)] < 100_000


def test_a_process_that_fails_says_why(means: EngineSetup, tiny: Shape) -> None:
    gone = replace(means, config="/no/such/file.yaml")
    with pytest.raises(InputError, match=r"^the process that measures memory failed: .*/no/such/file\.yaml"):
        list(OTHERS["memory"].samples(tiny, gone, 1))


def test_names_differ() -> None:
    assert len({workload.name for workload in WORKLOADS}) == len(WORKLOADS)


def test_what_is_known_can_be_prepared_again(means: EngineSetup, tiny: Shape) -> None:
    assert prepared(tiny, means).engine.sizes == prepared(tiny, means).engine.sizes
