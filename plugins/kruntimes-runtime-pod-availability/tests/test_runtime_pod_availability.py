from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Request, Unavailability
from kruntimes_core.testing import make_pod
from kruntimes_runtime_pod_availability import RuntimePodAvailability, fit

MOST = 2**63 - 1


@pytest.fixture
def plugin() -> RuntimePodAvailability:
    return RuntimePodAvailability()


@pytest.mark.parametrize("why", Unavailability)
def test_a_pod_that_is_not_available_is_rejected_with_its_own_reason(
    plugin: RuntimePodAvailability, why: Unavailability
) -> None:
    rejection = plugin.filter(make_pod(unavailable=why), Request({"runs": 1}))
    assert rejection is not None
    assert rejection.reason == why.value


def test_availability_is_told_before_capacity(plugin: RuntimePodAvailability) -> None:
    pod = make_pod(usage={"runs": 2}, unavailable=Unavailability.TERMINATING)
    rejection = plugin.filter(pod, Request({"runs": 1}))
    assert rejection is not None
    assert rejection.reason == "PodTerminating"


def test_room_for_all_is_a_yes(plugin: RuntimePodAvailability) -> None:
    pod = make_pod(capacity={"runs": 2, "gpu": 4}, usage={"runs": 1, "gpu": 3})
    assert plugin.filter(pod, Request({"runs": 1, "gpu": 1})) is None


@pytest.mark.parametrize(
    ("capacity", "usage", "request_", "detail"),
    [
        ({"runs": 2}, {"runs": 2}, {"runs": 1}, "runs: 2 in use + 1 requested > 2"),
        ({"runs": 2, "gpu": 4}, {"gpu": 2}, {"runs": 1, "gpu": 3}, "gpu: 2 in use + 3 requested > 4"),
        ({"runs": 2}, {}, {"runs": 1, "gpu": 1}, "gpu is not advertised"),
        ({"runs": Fraction(5, 2)}, {"runs": 2}, {"runs": 1}, "runs: 2 in use + 1 requested > 5/2"),
    ],
)
def test_a_rejection_names_the_resource_and_its_figures(
    plugin: RuntimePodAvailability,
    capacity: dict[str, int | Fraction],
    usage: dict[str, int],
    request_: dict[str, int],
    detail: str,
) -> None:
    rejection = plugin.filter(make_pod(capacity=capacity, usage=usage), Request(request_))
    assert rejection is not None
    assert (rejection.reason, rejection.detail) == ("InsufficientCapacity", detail)
    assert not rejection.pinned_elsewhere


@pytest.mark.parametrize(
    ("capacity", "used", "asked", "fits"),
    [
        (Fraction(999, 1000), 0, 1, False),
        (Fraction(5, 2), 1, 1, True),
        (Fraction(5, 2), 2, 1, False),
        (2**53 + 1, 2**53, 1, True),
        (2**53 + 1, 2**53, 2, False),
        (MOST, 5 * 10**18, 5 * 10**18, False),
        (10**18, 5 * 10**17, 5 * 10**17, True),
    ],
)
def test_limits_are_exact(capacity: int | Fraction, used: int, asked: int, fits: bool) -> None:
    pod = make_pod(capacity={"runs": 1, "slots": capacity}, usage={"slots": used})
    assert (fit(pod, Request({"slots": asked})) is None) is fits


amounts = st.integers(1, 9) | st.integers(MOST - 9, MOST)
capacities = amounts | st.builds(Fraction, st.integers(1, 10**20), st.just(10**9))
names = st.sampled_from(["runs", "cpu", "gpu"])


@given(
    st.dictionaries(names, capacities),
    st.dictionaries(names, amounts),
    st.dictionaries(names, amounts, min_size=1),
)
def test_it_agrees_with_exact_rationals(
    capacity: dict[str, int | Fraction], usage: dict[str, int], request: dict[str, int]
) -> None:
    room = all(
        name in capacity and Fraction(usage.get(name, 0)) + asked <= Fraction(capacity[name])
        for name, asked in request.items()
    )
    pod = make_pod(capacity=capacity, usage=usage)
    assert (fit(pod, Request(request)) is None) is room
    assert pod.fits(Request(request)) is room


def test_runs_with_equal_requests_share_one_state(plugin: RuntimePodAvailability) -> None:
    first = plugin.prefilter(Request({"runs": 1, "gpu": 2}))
    second = plugin.prefilter(Request({"gpu": 2, "runs": 1}))
    assert first == second
    assert hash(first) == hash(second)


def test_it_says_that_it_knows_capacity_and_declares_all_reasons(plugin: RuntimePodAvailability) -> None:
    assert plugin.provides == {"capacity"}
    assert list(plugin.reasons) == ["InsufficientCapacity", *reversed(Unavailability)]
    assert set(plugin.reasons.values()) == {'available runtime pods for runtime "{runtime}"'}
