"""The runner by itself: which states are one state, and the choice among feasible Pods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import FrozenMap, Reject, Request, RuntimePod
from kruntimes_core.framework.profile import PluginError, Profile
from kruntimes_core.framework.runtime import Runner, ScheduleResult, Unschedulable
from kruntimes_core.framework.runtime.state_equality import share_key
from kruntimes_core.model.snapshot import Pods
from kruntimes_core.testing import make_pod, make_run, make_snapshot, matching
from kruntimes_core.testing.plugins import fake_plugin


class Colour(Enum):
    RED = 1


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class ByValue:
    inner: Any


@dataclass
class Mutable:
    inner: int


class ByIdentity:
    pass


class Careless:
    """Equal and hashable, but its hash cannot be had."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        raise TypeError("no")


# Which states are one state


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        ("a", "a"),
        (7, 7),
        (("a", 1), ("a", 1)),
        (frozenset({"a", "b"}), frozenset({"b", "a"})),
        (Request({"runs": 1}), Request({"runs": 1})),
        (matching(app="a"), matching(app="a")),
        (Colour.RED, Colour.RED),
        (Pair(1, "x"), Pair(1, "x")),
        (ByValue((1, "x")), ByValue((1, "x"))),
        (datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)),
        (1.5, 1.5),
    ],
)
def test_equal_values_of_equal_types_are_one_state(one: Any, other: Any) -> None:
    assert share_key(one) == share_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (1, 1.0),
        (0.0, -0.0),
        ((1,), (True,)),
        ((1,), (1.0,)),
        (frozenset({1}), frozenset({True})),
        (FrozenMap({"a": 1}), FrozenMap({"a": True})),
        (FrozenMap({"runs": 1}), Request({"runs": 1})),
        (Pair(1, 2), (1, 2)),
        (ByValue(1), ByValue(True)),
        (ByValue([]), ByValue([])),
        (Mutable(1), Mutable(1)),
        (ByIdentity(), ByIdentity()),
        ([1], [1]),
        ({"a": 1}, {"a": 1}),
        (Careless(), Careless()),
        (float("nan"), "nan"),
    ],
)
def test_what_a_plugin_could_tell_apart_or_change_is_no_shared_state(one: Any, other: Any) -> None:
    assert share_key(one) != share_key(other)


def test_runs_whose_states_are_equal_by_python_alone_get_their_own_answers() -> None:
    def judge(pod: RuntimePod, state: object) -> Reject | None:
        return Reject("IsTrue") if state is True else None

    plugin = fake_plugin(
        prefilter=lambda labels: True if labels.get("bool") else 1, filter=judge, reasons=["IsTrue"]
    )
    runner = Runner(Profile(plugins=(plugin,)))
    snapshot = make_snapshot(make_pod("py-0"))
    assert isinstance(runner.plan(make_run("r1"), snapshot), ScheduleResult)
    assert isinstance(runner.plan(make_run("r2", labels={"bool": "yes"}), snapshot), Unschedulable)
    assert isinstance(runner.plan(make_run("r3"), snapshot), ScheduleResult)


# The choice

NAMES = [f"py-{number}" for number in range(6)]


def share_of_highest(scores: Sequence[int]) -> list[int]:
    return [score * 100 // (max(scores) or 1) for score in scores]


def quarters(scores: Sequence[int]) -> list[int]:
    """Many raw values become one: the best raw value is not the only best."""
    return [score // 25 * 25 for score in scores]


def by_table(table: dict[str, int]) -> Any:
    return lambda pod: table[pod.name]


SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "monotone": {"normalize": share_of_highest, "normalize_keeps_best": True},
    "normalized": {"normalize": share_of_highest},
    "coarse": {"normalize": quarters},
}
tables = st.fixed_dictionaries({name: st.sampled_from([0, 10, 30, 40, 99, 100]) for name in NAMES})
scorers = st.lists(
    st.tuples(st.sampled_from(sorted(SHAPES)), st.integers(1, 3), tables), min_size=0, max_size=3
)


@given(
    scorers,
    st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), min_size=1, max_size=12),
    st.sets(st.sampled_from(NAMES), max_size=3),
)
def test_the_highest_total_wins_and_equal_totals_go_to_the_smallest_name(
    chosen: list[tuple[str, int, dict[str, int]]], changes: list[tuple[str, bool]], excluded: set[str]
) -> None:
    """By one runner that follows the changes, as by hand for each picture anew."""
    plugins = [
        fake_plugin(f"S{place}", weight=weight, score=by_table(table), **SHAPES[shape])
        for place, (shape, weight, table) in enumerate(chosen)
    ]
    runner = Runner(Profile(plugins=tuple(plugins)))
    pods = Pods()
    for step, (name, present) in enumerate(changes):
        if not present and name not in pods:
            continue
        pods = pods.replacing(name, make_pod(name, annotations={"step": str(step)}) if present else None)
        outcome = runner.plan(make_run("r"), _with(pods), excluded)
        expected = _best(chosen, sorted(pods), excluded)
        assert (outcome.pod.name if isinstance(outcome, ScheduleResult) else None) == expected


def _with(pods: Pods) -> Any:
    return replace(make_snapshot(), pods=pods)


def _best(
    chosen: list[tuple[str, int, dict[str, int]]], feasible: list[str], excluded: set[str]
) -> str | None:
    names = [name for name in feasible if name not in excluded]
    totals = dict.fromkeys(names, 0)
    for shape, weight, table in chosen if names else []:
        raw = [table[name] for name in names]
        normalize = SHAPES[shape].get("normalize")
        for name, value in zip(names, normalize(raw) if normalize else raw, strict=True):
            totals[name] += weight * value
    return min(names, key=lambda name: (-totals[name], name), default=None)


def test_raw_scores_that_cannot_be_hashed_are_ranked_too() -> None:
    plugin = fake_plugin(
        score=lambda pod: [int(pod.name[-1])],
        normalize=lambda scores: [value[0] * 10 for value in scores],
        normalize_keeps_best=True,
    )
    runner = Runner(Profile(plugins=(plugin,)))
    pods = [make_pod(name) for name in NAMES]
    for _ in range(2):
        outcome = runner.plan(make_run("r"), make_snapshot(*pods))
        assert isinstance(outcome, ScheduleResult)
        assert outcome.pod.name == "py-5"


def test_a_table_that_an_error_left_half_followed_is_not_used_again() -> None:
    broken = {"py-1"}

    def judge(pod: RuntimePod) -> Reject | None:
        if pod.name in broken:
            raise RuntimeError("no")
        return Reject("No") if pod.name == "py-0" else None

    runner = Runner(Profile(plugins=(fake_plugin(filter=judge, reasons=["No"]),)))
    snapshot = make_snapshot(make_pod("py-0"), make_pod("py-1"), make_pod("py-2"))
    with pytest.raises(PluginError):
        runner.plan(make_run("r"), snapshot)
    broken.clear()
    outcome = runner.plan(make_run("r"), snapshot)
    assert isinstance(outcome, ScheduleResult)
    assert outcome.pod.name == "py-1"
    assert outcome.rejections == {("Fake", "No"): 1}
