"""Figures and growth of a whole bench: what grows is named, on a clock that knows only the plugins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

import pytest
from counting.effort import Ticks

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.lab.bench.engine.driver import EngineSetup
from kruntimes_core.lab.bench.engine.measurement import (
    Document,
    EngineBench,
    exponent,
    grown_figures,
    sizes_up_to,
)
from kruntimes_core.lab.bench.engine.shape import DIMENSIONS, Shape
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS, Timed
from kruntimes_core.lab.bench.figures import MICROSECONDS, MILLISECONDS, Quantity, Spread
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

TIMED = [workload for workload in WORKLOADS if isinstance(workload, Timed)]
PLACEMENTS = TIMED[0]
MakeMeans = Callable[[Profiles], EngineSetup]
Suspect = Callable[[ActivePlugin], EngineBench]


def ran(bench: EngineBench) -> EngineBench:
    assert list(bench.run()) == list(range(1, bench.steps + 1))
    return bench


def grown(bench: EngineBench, dimension: str, plugin: str = "Suspect") -> Document:
    (growth,) = (one for one in bench.growth if one["with"] == dimension)
    (hook,) = (hook for hook in growth["hooks"] if hook["plugin"] == plugin)
    return dict(hook)


@pytest.fixture
def suspect(profiles: Profiles, means_of: MakeMeans) -> Suspect:
    """The growth of placements with the supplied plugins and one more."""

    def measured(plugin: ActivePlugin) -> EngineBench:
        workload = replace(PLACEMENTS, grows_with=("pods", "known"))
        shape = Shape(pods=32, runs=4, known=64, waiting=2, requests=1, cohorts=1)
        means = means_of(profiles_of(*profiles.all[0].plugins, plugin))
        return ran(EngineBench([workload], shape, means, 1, growth=True))

    return measured


def test_a_plugin_whose_calls_take_longer_in_a_larger_cluster(suspect: Suspect, ticks: Ticks) -> None:
    def filter_(pod: RuntimePod, snapshot: Snapshot) -> None:
        ticks.spend(1_000 * len(snapshot.pods))

    hook = grown(suspect(fake_plugin("Suspect", filter=filter_)), "pods")
    # Asked for each Pod, and each call looks at each Pod.
    assert hook["calls"] == [4, 8, 16, 32]
    assert hook["callsExponent"] == pytest.approx(1, abs=0.1)
    assert hook["exponent"] == pytest.approx(2, abs=0.02)


def test_a_plugin_that_is_asked_more_often_in_a_larger_cluster(suspect: Suspect, ticks: Ticks) -> None:
    def score(pod: RuntimePod, snapshot: Snapshot) -> int:
        ticks.spend(500)
        return 0

    bench = suspect(fake_plugin("Suspect", score=score))
    assert grown(bench, "pods")["exponent"] == pytest.approx(1, abs=0.02)
    assert grown(bench, "known")["exponent"] == pytest.approx(0, abs=0.02)


def test_a_plugin_that_names_little_does_not_grow(suspect: Suspect, ticks: Ticks) -> None:
    def filter_(pod: RuntimePod) -> None:
        ticks.spend(500)

    bench = suspect(fake_plugin("Suspect", filter=filter_))
    for dimension in ("pods", "known"):
        assert grown(bench, dimension)["exponent"] == pytest.approx(0, abs=0.2)


def test_the_time_of_the_whole_is_that_of_the_plugins_here(suspect: Suspect, ticks: Ticks) -> None:
    """No clock around a hook runs while the figures are measured, and none is missing from the sum."""
    bench = suspect(fake_plugin("Suspect", filter=lambda pod: ticks.spend(500)))
    (measured,) = bench.measured
    (whole,) = (one["median"] for one in measured["figures"] if one["name"] == "whole")
    # What is done between two parts, as the deletion of a Run, is in none of them, but asks plugins too.
    assert 0 < whole <= sum(cost["microseconds"] for cost in measured["hooks"])


def test_every_exponent_is_a_number_and_every_dimension_is_there(means: EngineSetup, tiny: Shape) -> None:
    several = [one for one in TIMED if one.name in ("freed-slot", "heartbeats", "restart")]
    bench = ran(EngineBench(several, replace(tiny, runs=2, known=8), means, 1, growth=True))
    assert [(one["workload"], one["with"]) for one in bench.growth] == [
        (workload.name, dimension) for workload in several for dimension in workload.grows_with
    ]
    assert all(map(isfinite, exponents(bench.growth)))


def exponents(growth: list[Document]) -> list[float]:
    figures = [figure["exponent"] for one in growth for figure in one["figures"]]
    hooks = [hook[key] for one in growth for hook in one["hooks"] for key in ("exponent", "callsExponent")]
    assert figures
    assert hooks
    return [*figures, *hooks]


def test_counts_do_not_depend_on_the_machine(means: EngineSetup, tiny: Shape) -> None:
    first, second = (ran(EngineBench(TIMED, tiny, means, 1)) for _ in range(2))
    assert [one["hooks"] for one in first.measured] == [one["hooks"] for one in second.measured]


def test_a_report_says_who_decided(means: EngineSetup, tiny: Shape) -> None:
    bench = ran(EngineBench([PLACEMENTS], tiny, means, 2))
    document = bench.document()
    assert [plugin["name"] for plugin in document["plugins"]] == [
        plugin.name for plugin in means.profiles.all[0].plugins
    ]
    assert document["shape"]["pods"] == tiny.pods
    assert document["workloads"][0]["placed"] == document["workloads"][0]["units"] == tiny.runs


def test_every_workload_grows_with_something_that_there_is() -> None:
    for workload in TIMED:
        assert workload.grows_with
        assert set(workload.grows_with) <= set(DIMENSIONS)


SIZES = (100, 200, 400, 800)


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_a_power_is_found(power: float) -> None:
    assert exponent(SIZES, [1_000 * size**power for size in SIZES]) == pytest.approx(power, abs=0.001)


def test_what_shrinks_has_a_negative_power() -> None:
    assert exponent(SIZES, [1e9 / size for size in SIZES]) == pytest.approx(-1, abs=0.001)


def test_what_costs_nothing_does_not_grow() -> None:
    assert exponent(SIZES, [0, 0, 0, 0]) == 0


def test_a_cost_beside_a_constant_lies_between() -> None:
    assert 0.2 < exponent(SIZES, [50_000 + 100 * size for size in SIZES]) < 0.8


def test_noise_is_evened_out() -> None:
    assert exponent(SIZES, [1_100, 900, 1_050, 1_000]) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(("largest", "sizes"), [(800, SIZES), (8, (1, 2, 4, 8)), (1, (1, 2, 4, 8))])
def test_sizes_double(largest: int, sizes: tuple[int, ...]) -> None:
    assert sizes_up_to(largest) == sizes


@pytest.mark.parametrize("unit", [MICROSECONDS, MILLISECONDS])
def test_a_figure_grows_alike_in_any_unit(unit: str) -> None:
    quantity = Quantity("whole", unit)
    found = [{quantity: Spread(size * 1.0, size * 0.9, size * 5.0)} for size in SIZES]
    (grown,) = grown_figures(SIZES, found)
    assert grown["medians"] == list(SIZES)
    assert grown["exponent"] == pytest.approx(1, abs=0.001)


def test_a_part_that_is_not_there_at_each_size_took_no_time() -> None:
    quantity = Quantity("offer", MICROSECONDS)
    (grown,) = grown_figures(SIZES, [{}, {quantity: Spread(3.0, 3.0, 3.0)}, {}, {}])
    assert grown["medians"] == [0, 3.0, 0, 0]
