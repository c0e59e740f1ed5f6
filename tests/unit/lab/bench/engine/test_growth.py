"""Exponents are those of the power that was put in."""

from __future__ import annotations

import pytest

from kruntimes_core.lab.bench.engine.measurement import exponent, grown_figures, sizes_up_to
from kruntimes_core.lab.bench.figures import MICROSECONDS, MILLISECONDS, Quantity, Spread

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
    grown = grown_figures(SIZES, found)[quantity]
    assert list(grown.values) == list(SIZES)
    assert grown.exponent == pytest.approx(1, abs=0.001)


def test_a_part_that_is_not_there_at_each_size_took_no_time() -> None:
    quantity = Quantity("offer", MICROSECONDS)
    grown = grown_figures(SIZES, [{}, {quantity: Spread(3.0, 3.0, 3.0)}, {}, {}])[quantity]
    assert grown.values == (0, 3.0, 0, 0)
