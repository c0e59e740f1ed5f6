"""A value of a wrong type is refused, or converted, where it is made: it would decide in silence later."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest

from kruntimes_core import (
    Affinity,
    AffinityTerm,
    Capacity,
    FrozenMap,
    LabelSelector,
    LabelSet,
    Operator,
    Pods,
    Ratio,
    Request,
    Requirement,
    Run,
    RuntimePod,
    Snapshot,
    Targets,
    Unavailability,
    WeightedTerm,
    Workspace,
    WorkspacePhase,
)
from kruntimes_core.model.times import micro_time
from kruntimes_core.testing import make_pod, make_run, make_snapshot, make_targets, make_workspace, matching
from kruntimes_core.testing.builders import make_affinity
from kruntimes_core.testing.objects import (
    affinity_object,
    condition_object,
    pod_object,
    run_object,
    time_text,
)

NAIVE = datetime(2026, 1, 2, 3, 4, 5)
SELECTOR = matching(app="a")
TERM = AffinityTerm(SELECTOR)
IDENTITY: Any = {"namespace": "a", "name": "b", "uid": "c", "runtime": "py"}


class Cores(IntEnum):
    TWO = 2


class ArrayInteger:
    """An integer as libraries of arrays have them: no `int`, of fixed width, so that it overflows."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    def __lshift__(self, bits: int) -> ArrayInteger:
        return ArrayInteger((self._value << bits) % 2**64)


REFUSED: list[Callable[[], object]] = [
    lambda: FrozenMap("ab"),  # type: ignore[arg-type]
    lambda: FrozenMap([]),  # type: ignore[arg-type]
    lambda: LabelSet({"a": 1}),  # type: ignore[dict-item]
    lambda: LabelSet({1: "a"}),  # type: ignore[dict-item]
    lambda: Request({"cpu": "2"}),  # type: ignore[dict-item]
    lambda: Request({"cpu": True}),
    lambda: Request({"cpu": 0}),
    lambda: Request({"cpu": Fraction(1, 2)}),  # type: ignore[dict-item]
    lambda: Capacity({"cpu": "2"}),  # type: ignore[dict-item]
    lambda: Capacity({"cpu": 1.5}),  # type: ignore[dict-item]
    lambda: Capacity({"cpu": Decimal(2)}),  # type: ignore[dict-item]
    lambda: Capacity({"cpu": False}),
    lambda: Request({"cpu": Decimal(2)}),  # type: ignore[dict-item]
    lambda: Request({"cpu": float("nan")}),  # type: ignore[dict-item]
    lambda: Capacity({"cpu": Fraction(-1, 2)}),
    lambda: Requirement("a", "Includes", frozenset({"b"})),  # type: ignore[arg-type]
    lambda: Requirement("a", Operator.IN, "bc"),  # type: ignore[arg-type]
    lambda: Requirement("a", Operator.IN),
    lambda: Requirement("a", Operator.EXISTS, frozenset({"b"})),
    lambda: Requirement("a", Operator.NOT_IN, frozenset({1})),  # type: ignore[arg-type]
    lambda: LabelSelector({"a": "b"}),  # type: ignore[dict-item]
    lambda: LabelSelector(["a"]),  # type: ignore[list-item]
    lambda: AffinityTerm({"a": "b"}),  # type: ignore[arg-type]
    lambda: WeightedTerm(0, TERM),
    lambda: WeightedTerm(101, TERM),
    lambda: WeightedTerm(True, TERM),
    lambda: WeightedTerm(1, SELECTOR),  # type: ignore[arg-type]
    lambda: Affinity(required=TERM),  # type: ignore[arg-type]
    lambda: Affinity(required=(SELECTOR,)),  # type: ignore[arg-type]
    lambda: Affinity(preferred=(TERM,)),  # type: ignore[arg-type]
    lambda: Targets({"a": "b"}),  # type: ignore[dict-item]
    lambda: Targets({LabelSet(): 0}),
    lambda: Pods({"x": make_pod("y")}),
    lambda: Pods([make_pod("y")]),  # type: ignore[arg-type]
    lambda: Run(**IDENTITY | {"uid": None}),
    lambda: Run(**IDENTITY, created=NAIVE),
    lambda: Run(**IDENTITY, attempt=0),
    lambda: Run(**IDENTITY, affinity=TERM),  # type: ignore[arg-type]
    lambda: RuntimePod(**IDENTITY, usage={"cpu": "2"}),  # type: ignore[arg-type]
    lambda: RuntimePod(**IDENTITY, usage=FrozenMap({"cpu": -1})),
    lambda: RuntimePod(**IDENTITY, unavailable="Tired"),  # type: ignore[arg-type]
    lambda: RuntimePod(**IDENTITY, node=7),  # type: ignore[arg-type]
    lambda: Snapshot(namespace="a", runtime="py", pods={}),  # type: ignore[arg-type]
    lambda: Snapshot(namespace="a", runtime="py", now=NAIVE),
    lambda: Workspace(**IDENTITY, phase="Bond"),  # type: ignore[arg-type]
    lambda: Ratio(1, Fraction(1, 2)),
    lambda: Ratio.of(True, 2),
    lambda: Ratio.of(1.0, 2),  # type: ignore[arg-type]
    lambda: Ratio.of(1, Decimal(2)),  # type: ignore[arg-type]
    lambda: Ratio.of(Fraction(1, 2), 2),  # type: ignore[arg-type]
    lambda: Ratio.of(1, 0),
    lambda: Ratio.of(1, -2),
    lambda: micro_time(NAIVE),
    # Builders
    lambda: matching(app=1),  # type: ignore[arg-type]
    lambda: make_affinity(required=SELECTOR),  # type: ignore[arg-type]
    lambda: make_affinity(preferred=[(SELECTOR, 5)]),  # type: ignore[list-item]
    lambda: make_run(request={"cpu": "2"}),  # type: ignore[dict-item]
    lambda: make_run(labels={"a": 1}),  # type: ignore[dict-item]
    lambda: make_run(created=NAIVE),
    lambda: make_pod(capacity={"cpu": "2"}),  # type: ignore[dict-item]
    lambda: make_pod(usage={"cpu": 1.5}),  # type: ignore[dict-item]
    lambda: make_pod(targets={"app": "a"}),  # type: ignore[dict-item]
    lambda: make_targets("app"),  # type: ignore[arg-type]
    lambda: make_snapshot(make_pod(runtime="go")),
    lambda: make_snapshot(make_pod(), make_pod()),
    lambda: make_snapshot(workspaces=[make_workspace(), make_workspace()]),
    # Objects
    lambda: time_text(NAIVE),
    lambda: condition_object("Ready", "yes"),
    lambda: condition_object("Ready", 1),  # type: ignore[arg-type]
    lambda: pod_object(capacity={"cpu": 1.5}),  # type: ignore[dict-item]
    lambda: run_object(labels={"a": 1}),  # type: ignore[dict-item]
    lambda: affinity_object(preferred=[({}, 5)]),  # type: ignore[list-item]
]


@pytest.mark.parametrize("make", REFUSED)
def test_what_no_value_can_be_made_of_is_refused_with_what_to_give(make: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError), match=r": give |: write | without a time zone|operator"):
        make()


def test_what_has_one_meaning_is_converted() -> None:
    requirement = Requirement("a", "In", {"b"})  # type: ignore[arg-type]
    assert requirement == Requirement("a", Operator.IN, frozenset({"b"}))
    assert LabelSelector([requirement]).matches({"a": "b"})
    assert Affinity(required=[TERM]) == Affinity(required=(TERM,))  # type: ignore[arg-type]
    assert type(Capacity({"cpu": Fraction(4, 2)})["cpu"]) is int


@pytest.mark.parametrize("two", [Cores.TWO, ArrayInteger(2)], ids=["IntEnum", "__index__"])
def test_a_whole_number_counts_by_its_value(two: Any) -> None:
    values: list[object] = [
        Request({"cpu": two})["cpu"],
        Capacity({"cpu": two})["cpu"],
        Targets({LabelSet(): two})[LabelSet()],
        Run(**IDENTITY, attempt=two).attempt,
        RuntimePod(**IDENTITY, usage=FrozenMap({"cpu": two})).usage["cpu"],
        WeightedTerm(two, TERM).weight,
        make_affinity(preferred=[(two, SELECTOR)]).preferred[0].weight,
        affinity_object(preferred=[(two, {})])["runAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"
        ][0]["weight"],
        run_object(requests={"cpu": two})["spec"]["resources"]["requests"]["cpu"],
    ]
    assert [(type(value), value) for value in values] == [(int, 2)] * len(values)
    assert pod_object(capacity={"cpu": two})["metadata"]["annotations"] == {"kruntimes.io/capacity.cpu": "2"}
    assert Ratio.of(two, ArrayInteger(3)) == Ratio.of(2, 3)  # type: ignore[arg-type]
    assert {type(part) for part in Ratio.of(two, 3)} == {int, Fraction}


def test_plain_mappings_and_texts_become_the_values_of_a_pod_and_a_run() -> None:
    run = Run(**IDENTITY, labels={"app": "a"}, request={"runs": 1, "cpu": 2})  # type: ignore[arg-type]
    assert run == Run(**IDENTITY, labels=LabelSet({"app": "a"}), request=Request({"runs": 1, "cpu": 2}))
    pod = RuntimePod(
        **IDENTITY,
        capacity={"cpu": 2},  # type: ignore[arg-type]
        usage={"cpu": 1},  # type: ignore[arg-type]
        unavailable="PodNotReady",  # type: ignore[arg-type]
    )
    assert not pod.fits(Request({"cpu": 2}))
    assert pod.unavailable is Unavailability.NOT_READY
    assert Workspace(**IDENTITY, phase="Bound").phase is WorkspacePhase.BOUND  # type: ignore[arg-type]


def test_values_survive_pickle_and_keep_their_class() -> None:
    for value in (
        SELECTOR,
        Request({"cpu": 2}),
        Ratio.of(1, 3),
        make_pod(),
        make_run(created=NAIVE.replace(tzinfo=UTC)),
    ):
        copy = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
        assert (copy, type(copy)) == (value, type(value))


def test_a_capacity_in_whole_numbers_is_advertised_as_text() -> None:
    assert pod_object(capacity={"cpu": 2})["metadata"]["annotations"] == {"kruntimes.io/capacity.cpu": "2"}
