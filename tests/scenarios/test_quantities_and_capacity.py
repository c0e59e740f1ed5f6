"""Amounts as people write them, sums that neither wrap nor round, and ties that are ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.conftest import Planned
from tests.scenarios.planning import Object, Plan, document_of
from tests.scenarios.reference_reading import MAX_AMOUNT

INTEGERS: dict[Any, int] = {
    "1e3": 1000,
    "1E3": 1000,
    "1k": 1000,
    "1000": 1000,
    "1000.0": 1000,
    "1000000m": 1000,
    ".5k": 500,
    "2.": 2,
    "0.5Ki": 512,
    "1Ki": 1024,
    3: 3,
    "+7": 7,
    "1E": 10**18,
    "7Ei": 7 * 2**60,
    "1e18": 10**18,
    "10e-1": 1,
    "0.000001M": 1,
    "007": 7,
}
NO_REQUESTS = [
    "500m",
    "0.1",
    "1n",
    "-1",
    "1K",
    "1 Gi",
    " 1",
    "1 ",
    "1e",
    "0x10",
    "NaN",
    "Infinity",
    "1_000",
    "\N{ARABIC-INDIC DIGIT TWO}",
    "\N{FULLWIDTH DIGIT ONE}",
    "1e1.5",
    "1e999999999",
    "1e-999999999",
    "9223372036854775808",
    "8Ei",
    "10E",
    "1ki",
    "1\n",
    "",
    "abc",
    "+",
    ".",
    "--1",
    1.5,
    True,
    -1,
    10**30,
]


def needing(name: str, amount: Any, resource: str = "slots") -> Object:
    return run_object(name, requests={resource: amount})


def pod_with(resource: str = "slots", name: str = "py-0", runs: str = "100", **amounts: str) -> Object:
    return pod_object(name, capacity={"runs": runs, resource: "0", **amounts})


class TestSpellings:
    """One number has many spellings, and what is none is told so."""

    @pytest.mark.parametrize(("spelling", "amount"), INTEGERS.items(), ids=repr)
    def test_any_spelling_of_an_integer_is_that_integer(
        self, plan: Planned, spelling: Any, amount: int
    ) -> None:
        fits = plan(pod_with(slots=str(amount)), needing("r", spelling))["r"]
        lacks = plan(pod_with(slots=str(amount - 1)), needing("r", spelling))["r"]
        assert fits["pod"] == "py-0"
        assert (lacks["outcome"], lacks["never"]) == ("Waiting", True)

    @pytest.mark.parametrize("spelling", NO_REQUESTS, ids=repr)
    def test_what_is_no_integer_fails_its_run_alone(self, plan: Planned, spelling: Any) -> None:
        made = plan(pod_with(slots="9E"), needing("bad", spelling), needing("ok", "1"))
        assert (made["bad"]["outcome"], made["bad"]["reason"]) == ("Failed", "InvalidResources")
        assert "slots" in made["bad"]["message"]
        assert made["bad"]["message"].isprintable()
        assert made["ok"]["pod"] == "py-0"

    @pytest.mark.parametrize("nothing", ["0", "-0", "0.0", "0e9", "0Ki", 0, "-0m", "+0"])
    def test_zero_is_no_request(self, plan: Planned, nothing: Any) -> None:
        made = plan(pod_object("py-0", capacity={"runs": "1"}), needing("r", nothing, "gpu"))
        assert made["r"]["pod"] == "py-0"

    @pytest.mark.parametrize("runs", [None, "0", "-0", 0, "0m"])
    def test_every_run_takes_at_least_one_place(self, plan: Planned, runs: Any) -> None:
        requests = None if runs is None else {"runs": runs}
        two = [run_object(name, requests=requests) for name in ("r1", "r2")]
        assert plan(pod_object("py-0", capacity={"runs": "1"}), *two).pods == {"r1": "py-0", "r2": None}


class TestEmptyAndWrongAmounts:
    """Null, nothing and other types: of one Run, or of one Pod."""

    @pytest.mark.parametrize("resources", [None, {}, {"requests": None}, {"requests": {}}])
    def test_no_requests_are_one_run(self, plan: Planned, resources: Any) -> None:
        runs = [run_object(name, spec={"resources": resources}) for name in ("r1", "r2", "r3")]
        assert plan(pod_object("py-0"), *runs).pods == {"r1": "py-0", "r2": "py-0", "r3": None}

    @pytest.mark.parametrize("amounts", ["gpu", ["gpu"], 1, True])
    def test_requests_of_another_shape_fail_their_run(self, plan: Planned, amounts: Any) -> None:
        bad = run_object("bad", spec={"resources": {"requests": amounts}})
        made = plan(pod_object("py-0"), bad, run_object("ok"))
        assert (made["bad"]["reason"], made["ok"]["pod"]) == ("InvalidResources", "py-0")

    @pytest.mark.parametrize("written", ["", "abc", "-3", "0", "0.0", "-0", "1K", "1e", " 4", "NaN", "1_0"])
    def test_an_annotation_that_is_no_positive_amount_is_not_there(self, plan: Planned, written: str) -> None:
        pod = pod_object("py-0", capacity={"runs": written, "gpu": written})
        runs = [run_object(name) for name in ("r1", "r2", "r3")]
        made = plan(pod, *runs, needing("s", "1", "gpu"))
        assert made.pods == {"r1": "py-0", "r2": "py-0", "r3": None, "s": None}
        assert made["s"]["never"] is True

    def test_a_fraction_of_room_holds_the_whole_runs_in_it(self, plan: Planned) -> None:
        runs = [run_object(name) for name in ("r1", "r2", "r3")]
        assert plan(pod_object("py-0", capacity={"runs": "2.5"}), *runs).pods["r3"] is None
        assert plan(pod_object("py-0", capacity={"runs": "3.000"}), *runs).pods["r3"] == "py-0"

    @pytest.mark.parametrize("enormous", ["1e999999999", "9E", "10E", "8Ei", str(2**63), "9" * 300])
    def test_room_beyond_the_largest_amount_is_the_largest_amount(self, plan: Planned, enormous: str) -> None:
        pod = pod_with(slots=enormous)
        largest = min(int(Fraction(9 * 10**18)), MAX_AMOUNT) if enormous == "9E" else MAX_AMOUNT
        made = plan(pod, needing("r1", str(largest)), needing("r2", "1"))
        assert made.pods == {"r1": "py-0", "r2": None}

    def test_an_active_run_that_cannot_be_read_still_holds_what_can(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "2", "gpu": "2"})
        there = run_object("x", pod="py-0", requests={"gpu": "2", "cpu": "1K", "runs": "nonsense"})
        made = plan(pod, there, needing("g", "1", "gpu"), run_object("r1"), run_object("r2"))
        assert made.pods == {"g": None, "r1": "py-0", "r2": None}

    def test_a_phase_of_a_later_version_holds_its_room(self, plan: Planned) -> None:
        there = run_object("x", pod="py-0", phase="Hibernating")
        made = plan(pod_object("py-0", capacity={"runs": "1"}), there, run_object("r"))
        assert made.order == ["r"]
        assert made["r"]["reason"] == "InsufficientCapacity"


class TestHugeSums:
    """The whole 63 bits, exactly."""

    def test_three_times_500_peta_in_one_exa(self, plan: Planned) -> None:
        runs = [needing(name, "500P") for name in ("r1", "r2", "r3")]
        assert plan(pod_with(slots="1E"), *runs).pods == {"r1": "py-0", "r2": "py-0", "r3": None}

    def test_two_that_would_wrap_a_signed_integer(self, plan: Planned) -> None:
        runs = [needing(name, "5000000000000000000") for name in ("r1", "r2")]
        made = plan(pod_with(slots="9223372036854775807"), *runs)
        assert made.pods == {"r1": "py-0", "r2": None}
        assert made["r2"]["never"] is False

    def test_one_beyond_what_a_float_can_hold(self, plan: Planned) -> None:
        pod = pod_with(slots="9007199254740993")
        there = run_object("x", pod="py-0", requests={"slots": "9007199254740992"})
        assert plan(pod, there, needing("r", "1"))["r"]["pod"] == "py-0"
        assert plan(pod, there, needing("r", "2"))["r"]["reason"] == "InsufficientCapacity"

    def test_active_runs_may_exceed_the_room_and_nothing_wraps(self, plan: Planned) -> None:
        there = [
            run_object(f"x{number}", pod="py-0", requests={"slots": str(MAX_AMOUNT)}) for number in range(3)
        ]
        assert plan(pod_with(slots="16E"), *there, needing("r", "1"))["r"]["reason"] == "InsufficientCapacity"


AMOUNTS = st.one_of(
    st.integers(0, MAX_AMOUNT),
    st.integers(MAX_AMOUNT - 3, MAX_AMOUNT),
    st.integers(2**53 - 2, 2**53 + 2),
    st.integers(0, 3),
)


@given(
    room=st.lists(AMOUNTS.filter(bool), min_size=1, max_size=3),
    there=st.lists(st.tuples(st.integers(0, 2), AMOUNTS), max_size=3),
    asked=st.lists(AMOUNTS, min_size=1, max_size=8),
)
def test_no_pod_is_ever_oversold(
    room: list[int], there: list[tuple[int, int]], asked: list[int], profiles: Profiles
) -> None:
    pods = [pod_with(name=f"py-{number}", slots=str(amount)) for number, amount in enumerate(room)]
    active = [
        run_object(f"x{number}", pod=f"py-{where}", requests={"slots": str(amount)})
        for number, (where, amount) in enumerate(there)
    ]
    made = Plan(
        document_of([*pods, *active, *[needing(f"r{i}", str(a)) for i, a in enumerate(asked)]], profiles)
    )
    free = {f"py-{number}": amount for number, amount in enumerate(room)}
    for where, amount in there:
        if f"py-{where}" in free:
            free[f"py-{where}"] -= amount
    assert len(made.decisions) == len(asked)
    for decision in made.decisions:
        amount = asked[int(decision["run"][1:])]
        if decision["pod"] is None:
            assert all(amount > left for left in free.values())
        else:
            free[decision["pod"]] -= amount
            assert amount == 0 or free[decision["pod"]] >= 0


class TestTies:
    """Equal loads are equal in whatever order the resources come, and the smallest name wins."""

    @pytest.mark.parametrize("runs", ["10", "4"])
    @pytest.mark.parametrize("first", list(permutations((1, 2, 3))))
    @pytest.mark.parametrize("second", list(permutations((1, 2, 3))))
    def test_the_same_loads_on_other_resources_are_a_tie(
        self, plan: Planned, first: tuple[int, ...], second: tuple[int, ...], runs: str
    ) -> None:
        pods = [
            pod_object(name, capacity={"runs": runs, "x": "10", "y": "10", "z": "10"})
            for name in ("py-1", "py-0")
        ]
        there = [
            run_object(name, pod=pod, requests=dict(zip("xyz", map(str, loads), strict=True)))
            for name, pod, loads in (("a", "py-0", first), ("b", "py-1", second))
        ]
        one = run_object("r", requests={"x": "1", "y": "1", "z": "1"})
        assert plan(*pods, *there, one)["r"]["pod"] == "py-0"

    def test_a_tie_of_thirds_and_ninths_is_one(self, plan: Planned) -> None:
        pods = [
            pod_object("py-0", capacity={"runs": "3", "x": "9"}),
            pod_object("py-1", capacity={"runs": "9", "x": "3"}),
        ]
        there = [
            run_object("a", pod="py-0", requests={"x": "2"}),
            run_object("b", pod="py-1", requests={"runs": "2", "x": "1"}),
        ]
        # With the Run: py-0 has runs 2/3 and x 3/9, py-1 has runs 3/9 and x 2/3.
        assert plan(*pods, *there, run_object("r", requests={"x": "1"}))["r"]["pod"] == "py-0"

    def test_the_least_bit_of_load_decides(self, plan: Planned) -> None:
        largest, smaller = str(MAX_AMOUNT), str(MAX_AMOUNT - 1)
        pods = [pod_with(name="py-0", slots=smaller), pod_with(name="py-1", slots=largest)]
        # 1/(2^63-2) is more than 1/(2^63-1): no float can tell. `runs` has the same load on both.
        there = [
            run_object(name, pod=pod, requests={"slots": str(2**62)})
            for name, pod in (("a", "py-0"), ("b", "py-1"))
        ]
        assert plan(*pods, *there, needing("r", "1"))["r"]["pod"] == "py-1"

    @pytest.mark.parametrize(
        ("room", "placed"), [("999m", 0), ("1000m", 1), ("2500m", 2), ("2999999999n", 2)]
    )
    def test_no_tolerance_at_the_limit(self, plan: Planned, room: str, placed: int) -> None:
        made = plan(pod_with(slots=room), *[needing(name, "1") for name in ("r1", "r2", "r3")])
        assert sum(pod is not None for pod in made.pods.values()) == placed


@given(
    loads=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    capacities=st.lists(st.integers(10, 30), min_size=3, max_size=3),
    order=st.permutations(range(3)),
)
def test_a_pod_and_its_mirror_image_are_equally_loaded(
    loads: list[int], capacities: list[int], order: list[int], profiles: Profiles
) -> None:
    """Capacity and usage under exchanged resource names: the ratios are the same set, so it is a tie."""
    names = "xyz"
    mirrored = [names[place] for place in order]
    objects = [run_object("r")]
    for pod, resources in (("py-1", list(names)), ("py-0", mirrored)):
        room = dict(zip(resources, map(str, capacities), strict=True))
        objects.append(pod_object(pod, capacity={"runs": "9"} | room))
        held = dict(zip(resources, map(str, loads), strict=True))
        objects.append(run_object(f"on-{pod}", pod=pod, requests=held))
    assert Plan(document_of(objects, profiles))["r"]["pod"] == "py-0"


class TestNamesWithASlash:
    """The model does not mind a resource name with a slash, and nothing else is taken for capacity."""

    def test_two_of_three_fit(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "9", "example.com/gpu": "2"})
        runs = [needing(name, "1", "example.com/gpu") for name in ("r1", "r2", "r3")]
        made = plan(pod, *runs)
        assert made.pods == {"r1": "py-0", "r2": "py-0", "r3": None}
        assert (made["r3"]["reason"], made["r3"]["never"]) == ("InsufficientCapacity", False)

    @pytest.mark.parametrize(
        "key",
        [
            "kruntimes.io/capacity.",
            "kruntimes.io/capacityx.gpu",
            "kruntimes.io/capacity/gpu",
            "x.kruntimes.io/capacity.gpu",
            "kruntimes.io/Capacity.gpu",
        ],
    )
    def test_keys_that_only_look_alike_advertise_nothing(self, plan: Planned, key: str) -> None:
        pod = pod_object("py-0", metadata={"annotations": {key: "5"}})
        made = plan(pod, needing("r", "1", "gpu"), needing("s", "1", ""), run_object("t"))
        assert made.pods == {"r": None, "s": None, "t": "py-0"}
        assert made["r"]["never"] is True
