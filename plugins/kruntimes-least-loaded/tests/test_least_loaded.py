from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Request, RuntimePod
from kruntimes_core.testing import make_pod
from kruntimes_least_loaded import LeastLoaded, Spare, by_place, spare

MOST = 2**63 - 1


def naive(pod: RuntimePod, request: Request) -> tuple[Fraction, Fraction]:
    """The contract's formula in exact rationals: the highest ratio, and the sum; less is better."""
    loads = {name: pod.usage.get(name, 0) + request.get(name, 0) for name in pod.capacity}
    ratios = [Fraction(load) / Fraction(pod.capacity[name]) for name, load in loads.items() if load > 0]
    return max(ratios, default=Fraction(0)), sum(ratios, Fraction(0))


def raw(capacity: dict[str, int | Fraction], usage: dict[str, int], request: dict[str, int]) -> Spare:
    plugin = LeastLoaded()
    state = plugin.prefilter(Request(request))
    return plugin.score(make_pod(capacity=capacity, usage=usage), state)


def places(*usages: int, capacity: int = 10) -> list[int]:
    scores = [spare(make_pod(capacity={"runs": capacity}, usage={"runs": n}), Request()) for n in usages]
    return LeastLoaded().normalize(scores)


def test_less_load_is_a_higher_score() -> None:
    busy, idle = spare_of(runs=3), spare_of(runs=1)
    assert idle > busy
    assert idle != busy


def spare_of(**usage: int) -> Spare:
    return spare(make_pod(capacity={"runs": 4, "gpu": 8}, usage=usage), Request({"runs": 1}))


def test_the_highest_ratio_decides_before_the_sum() -> None:
    one_high = spare(make_pod(capacity={"runs": 4, "gpu": 4}, usage={"gpu": 3}), Request())
    two_even = spare(make_pod(capacity={"runs": 4, "gpu": 4}, usage={"runs": 2, "gpu": 2}), Request())
    assert two_even > one_high


def test_the_sum_decides_between_equal_highest_ratios() -> None:
    alone = spare(make_pod(capacity={"runs": 4, "gpu": 4}, usage={"runs": 2}), Request())
    both = spare(make_pod(capacity={"runs": 4, "gpu": 4}, usage={"runs": 2, "gpu": 1}), Request())
    assert alone > both


def test_what_is_in_use_counts_though_the_run_does_not_ask_for_it() -> None:
    assert spare_of(gpu=0) > spare_of(gpu=7)


def test_what_is_not_advertised_does_not_count() -> None:
    assert spare_of(disk=7) == spare_of()


def test_ratios_compare_different_capacities() -> None:
    small = spare(make_pod(capacity={"runs": 2}, usage={"runs": 0}), Request({"runs": 1}))
    large = spare(make_pod(capacity={"runs": 64}, usage={"runs": 31}), Request({"runs": 1}))
    assert small == large


@pytest.mark.parametrize("runs", [10, 4])
@pytest.mark.parametrize("order", list(permutations("xyz")))
def test_thirds_and_tenths_tie_in_any_order(runs: int, order: tuple[str, str, str]) -> None:
    """1/10 + 2/10 + 3/10 in floats depends on the order; the winner must not."""
    request = {"runs": 1, "x": 1, "y": 1, "z": 1}
    capacity: dict[str, int | Fraction] = {**dict.fromkeys(order, 10), "runs": runs}
    up = raw(capacity, {"x": 1, "y": 2, "z": 3}, request)
    down = raw(capacity, {"x": 3, "y": 2, "z": 1}, request)
    assert up == down


def test_the_smallest_difference_still_counts() -> None:
    """Two capacities that differ in the last of 63 bits and nine decimals, nearly full."""
    one, other = (Fraction(MOST * 10**9 - less, 10**9) for less in (0, 1))
    freer = spare(make_pod(capacity={"slots": one}, usage={"slots": MOST - 1}), Request())
    fuller = spare(make_pod(capacity={"slots": other}, usage={"slots": MOST - 1}), Request())
    assert freer > fuller
    assert freer.highest != fuller.highest


def test_a_pod_that_advertises_nothing_that_is_used_is_empty() -> None:
    assert spare(make_pod(capacity={}), Request()) == spare(make_pod(capacity={"gpu": 1}), Request())


@pytest.mark.parametrize(
    ("usages", "normalized"),
    [
        ([5], [100]),
        ([], []),
        ([1, 1], [100, 100]),
        ([2, 1], [0, 100]),
        ([3, 1, 2], [0, 100, 50]),
        ([1, 2, 2, 3], [100, 66, 66, 0]),
        ([2, 1, 2, 1], [33, 100, 33, 100]),
    ],
)
def test_places_are_given_from_the_start_of_a_group_of_equals(
    usages: list[int], normalized: list[int]
) -> None:
    assert places(*usages) == normalized


def test_the_second_of_a_thousand_is_not_called_best() -> None:
    assert places(*range(1000), capacity=1000)[:3] == [100, 99, 99]
    assert LeastLoaded.normalize_keeps_best


def test_the_record_shows_loads_as_people_read_them() -> None:
    assert str(spare_of(runs=2, gpu=2)) == "highest load 0.7500, sum 1.0000"


def test_equal_scores_hash_alike() -> None:
    small, large = (spare(make_pod(capacity={"runs": n}), Request({"runs": n // 2})) for n in (2, 4))
    assert small == large
    assert hash(small) == hash(large)


amounts = st.integers(1, 5) | st.integers(1, MOST)
capacities = amounts | st.builds(Fraction, st.integers(1, MOST * 10**9), st.just(10**9))
names = st.sampled_from(["runs", "cpu", "gpu", "disk"])
pods = st.builds(
    lambda capacity, usage: make_pod(capacity=capacity, usage=usage),
    st.dictionaries(names, capacities),
    st.dictionaries(names, st.integers(0, 5) | st.integers(0, MOST)),
)
requests = st.dictionaries(names, amounts).map(Request)


@given(pods, pods, requests)
def test_raw_scores_are_ordered_as_the_exact_formula(
    one: RuntimePod, other: RuntimePod, request: Request
) -> None:
    first, second = spare(one, request), spare(other, request)
    assert (first < second) is (naive(one, request) > naive(other, request))
    assert (first == second) is (naive(one, request) == naive(other, request))


small_pods = st.builds(
    lambda capacity, usage: make_pod(capacity=capacity, usage=usage),
    st.fixed_dictionaries({"runs": st.integers(2, 4), "gpu": st.integers(1, 3)}),
    st.fixed_dictionaries({"runs": st.integers(0, 3), "gpu": st.integers(0, 2)}),
)


@given(st.lists(small_pods, min_size=1, max_size=12))
def test_places_are_those_of_the_formula(feasible: list[RuntimePod]) -> None:
    request, last = Request({"runs": 1}), len(feasible) - 1
    loads = [naive(pod, request) for pod in feasible]
    better = [sum(other < load for other in loads) for load in loads]
    expected = [100 if last == 0 else (last - place) * 100 // last for place in better]
    normalized = by_place([spare(pod, request) for pod in feasible])
    assert normalized == expected
    assert [value == 100 for value in normalized] == [load == min(loads) for load in loads]
