"""What a placement costs as the cluster grows, in lines of code and in calls of hooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product

import pytest
from counting.actions import (
    ACTIONS,
    BASE,
    LINES,
    SIZES,
    SPARE_BYTES,
    Kind,
    affine_placements,
    endings,
    measured,
    placements,
)
from counting.effort import Effort

from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.driver import EngineSetup
from kruntimes_core.lab.bench.engine.measurement import EngineBench
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS, Timed
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

# The tests of growth would see a loop: a plugin with one makes a placement cost more in a larger cluster.


def look_at_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop of its own."""
    for pod in snapshot.pods.values():
        assert pod.name


def copy_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop that Python hides."""
    assert sorted(snapshot.pods)


FEW_STATES = replace(BASE, pods=800, waiting=0, cohorts=1, requests=1)


@pytest.mark.parametrize("prefilter", [look_at_all_pods, copy_all_pods])
def test_a_loop_over_what_exists_is_seen(profiles: Profiles, prefilter: Callable[[Snapshot], None]) -> None:
    slow = profiles_of(*profiles.all[0].plugins, fake_plugin(prefilter=prefilter))
    small, large = (
        measured(slow, placements, shape) for shape in (FEW_STATES, replace(FEW_STATES, pods=1_600))
    )
    more_lines = large.lines > small.lines * LINES
    assert more_lines or large.peak_bytes > small.peak_bytes + SPARE_BYTES


# Profiles that other Runtimes have cost a placement nothing, however many there are.


NO_WAITING = replace(BASE, waiting=0, cohorts=1, requests=1)


@pytest.mark.parametrize("kind", [placements, endings])
def test_profiles_of_other_runtimes_are_not_looked_through(profiles: Profiles, kind: Kind) -> None:
    (mine,) = profiles.all
    others = [replace(mine, name=f"p-{number}", runtimes=frozenset({f"rt-{number}"})) for number in range(20)]
    alone, beside = (measured(each, kind, NO_WAITING) for each in (profiles, Profiles((mine, *others))))
    assert beside.lines <= alone.lines * LINES


# How often each hook is asked, fitted as `kruntimes bench engine --growth` does, where many classes wait.


SHAPE = Shape(
    pods=32, runs=8, known=32, waiting=80, requests=10, cohorts=10, preferences=10, namespaces=4, runtimes=4
)
# So many calls of a hook in one placement are a few that come now and then, and no loop.
FEW = 2.0


@pytest.mark.parametrize(
    "workload",
    [one for one in WORKLOADS if isinstance(one, Timed) and one.places],
    ids=lambda workload: str(workload.name),
)
def test_no_hook_is_asked_more_often_than_in_proportion(profiles: Profiles, workload: Timed) -> None:
    bench = EngineBench([workload], SHAPE, EngineSetup(profiles, Settings()), 1, growth=True)
    assert len(list(bench.run())) == bench.steps
    grown = [(growth["with"], hook) for growth in bench.growth for hook in growth["hooks"]]
    assert any(max(hook["calls"]) > FEW for _, hook in grown), "a plugin was asked something"
    steep = [
        (dimension, hook["plugin"], hook["hook"], hook["calls"])
        for dimension, hook in grown
        if max(hook["calls"]) > FEW and hook["callsExponent"] > 1
    ]
    assert not steep


# What must not grow with the cluster does not: in twice the size as much code runs, on as much memory.


def name_of(value: object) -> str:
    """How a test's parameter is shown."""
    return value if isinstance(value, str) else getattr(value, "__name__", "")


# The next Run of a cohort looks at the Pods that changed since its last one: as many as there were Runs of
# other cohorts meanwhile.
GROWS = {(affine_placements, "cohorts")}


@pytest.mark.parametrize(
    ("kind", "dimension"), [pair for pair in product(ACTIONS, SIZES) if pair not in GROWS], ids=name_of
)
def test_costs_as_much_in_twice_the_size(
    efforts: Callable[[Kind, Shape], Effort], kind: Kind, dimension: str
) -> None:
    small, large = (efforts(kind, shape) for shape in SIZES[dimension])
    assert large.lines <= small.lines * LINES
    assert large.peak_bytes <= small.peak_bytes + SPARE_BYTES


@pytest.fixture(scope="module")
def efforts(profiles: Profiles) -> Callable[[Kind, Shape], Effort]:
    """`measured`, once for each kind and shape: many tests compare with the same one."""
    return cache(partial(measured, profiles))
