"""Percentiles, windows and spreads, computed by hand beside them."""

from __future__ import annotations

import pytest

from kruntimes_core.lab.bench.figures import Spread, latency, rate, spread, windows


@pytest.mark.parametrize(("number", "expected"), [(1, (1, 1, 1)), (10, (5, 10, 10)), (200, (100, 190, 198))])
def test_a_percentile_is_a_value_that_was_measured(number: int, expected: tuple[int, int, int]) -> None:
    measured = latency(range(1, number + 1))
    assert measured is not None
    assert (measured.p50, measured.p95, measured.p99) == expected


def test_latencies_need_no_order_and_some_value() -> None:
    measured = latency([0.3, 0.1, 0.2])
    assert measured is not None
    assert (measured.p50, measured.p95, measured.p99, measured.highest) == (0.2, 0.3, 0.3, 0.3)
    assert latency([]) is None


def test_a_spread_leaves_out_what_is_not_known() -> None:
    assert spread([3.0, None, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert spread([None]) is None


def test_windows_cut_a_round_and_the_last_one_is_as_long_as_the_rest() -> None:
    placed = [(0.0, 0.5), (1.0, 0.1), (9.99, 0.2), (10.0, 0.3), (15.0, 0.4)]
    first, last = windows([0.5, 10.0], placed, 15.0, 10.0)
    assert (first.start, first.end, first.created, first.placed, first.rate) == (0.0, 10.0, 1, 3, 0.3)
    assert (last.start, last.end, last.created, last.placed, last.rate) == (10.0, 15.0, 1, 2, 0.4)
    assert first.latency is not None
    assert last.latency is not None
    assert (first.latency.p50, last.latency.highest) == (0.2, 0.4)


@pytest.mark.parametrize(
    ("number", "seconds", "expected"),
    [(5, 0.003, None), (5, 0.0, None), (5, 0.099, None), (5, 0.3 - 0.2, 50.0), (0, 2.0, 0.0), (5, 2.0, 2.5)],
)
def test_a_rate_needs_a_tenth_of_a_second(number: int, seconds: float, expected: float | None) -> None:
    assert rate(number, seconds) == (None if expected is None else pytest.approx(expected))


def test_every_placement_is_in_one_window() -> None:
    placed = [(number * 0.7, 0.1) for number in range(101)]
    found = windows([], placed, 70.0, 10.0)
    assert sum(window.placed for window in found) == 101
    assert [window.end for window in found] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]


@pytest.mark.parametrize("end", [0.3, 0.7, 1.1, 11.0, 123.456])
def test_a_round_that_is_cut_evenly_has_as_many_windows(end: float) -> None:
    found = windows([], [(0.0, 0.1), (end, 0.1)], end, end / 60)
    assert len(found) == 60
    assert all(window.end > window.start for window in found)
    assert (found[0].placed, found[-1].placed) == (1, 1)


def test_a_round_without_a_placement_has_an_empty_window() -> None:
    (window,) = windows([], [], 0.0, 10.0)
    assert (window.placed, window.rate, window.latency) == (0, 0.0, None)
