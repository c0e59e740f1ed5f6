"""Scores count by their value, whatever class of number a library makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest

from kruntimes_core import Ratio, Reject
from kruntimes_core.framework.profile import PluginError, Profile
from kruntimes_core.framework.runtime import Runner, ScheduleResult, Unschedulable
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.plugins import fake_plugin

SNAPSHOT = make_snapshot(make_pod("py-0"), make_pod("py-1"))


class Grade(IntEnum):
    GOOD = 80


class ArrayInteger:
    """An integer as libraries of arrays have them: no `int`, and not comparable with one."""

    def __index__(self) -> int:
        return 80


class NotATime(datetime):
    """What some libraries have for a missing time."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


class PreciseTime(datetime):
    """A time of a library, which compares in its own way."""

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("not compared")

    __gt__ = __lt__


def planned(**hooks: Any) -> Any:
    plugin = fake_plugin(reasons=["Full"], **hooks)
    return Runner(Profile(plugins=(plugin,))).plan(make_run("r"), SNAPSHOT)


def scores(**hooks: Any) -> list[Any]:
    _, found = Runner(Profile(plugins=(fake_plugin(**hooks),)), records=True).explain(make_run("r"), SNAPSHOT)
    return [part for scores in found.values() for part in (*scores.normalized, scores.total)]


@pytest.mark.parametrize("value", [Grade.GOOD, ArrayInteger()], ids=["IntEnum", "__index__"])
def test_an_integer_of_any_class_is_a_score(value: Any) -> None:
    for found in (
        scores(score=lambda pod: value),
        scores(score=lambda pod: 1, normalize=lambda scores: [value] * len(scores)),
    ):
        assert [(type(part), part) for part in found] == [(int, 80)] * 4
    best = planned(score=lambda pod: value if pod.name == "py-1" else 79)
    assert isinstance(best, ScheduleResult)
    assert best.pod.name == "py-1"


@pytest.mark.parametrize(
    "value",
    [True, False, 80.0, float("nan"), Decimal(80), Decimal("nan"), Decimal("snan"), Fraction(80), "80"],
    ids=str,
)
@pytest.mark.parametrize("hook", ["score", "normalize"])
def test_other_numbers_and_truth_values_are_not_scores(hook: str, value: Any) -> None:
    hooks: dict[str, Any] = {"score": lambda pod: value if hook == "score" else 1}
    if hook == "normalize":
        hooks["normalize"] = lambda scores: [value] * len(scores)
    with pytest.raises(PluginError, match=r"ints? from 0 to 100") as raised:
        planned(**hooks)
    assert raised.value.hook == hook


@pytest.mark.parametrize(
    "value",
    [True, float("nan"), Decimal("nan"), (1, float("nan")), (Ratio.of(1, 2), (Decimal("nan"),)), [None]],
    ids=str,
)
def test_what_no_comparison_places_is_not_a_raw_score(value: Any) -> None:
    with pytest.raises(PluginError, match="return a value that can be ordered"):
        planned(score=lambda pod: value, normalize=lambda scores: [0] * len(scores))


@pytest.mark.parametrize(
    "better", [2.5, Decimal("2.5"), Fraction(5, 2), (True, "a"), (Ratio.of(5, 2), 1)], ids=str
)
def test_raw_scores_are_anything_that_can_be_ordered(better: Any) -> None:
    worse = (False, "a") if better == (True, "a") else (Ratio.of(1, 2), 1) if type(better) is tuple else 1
    best = planned(
        score=lambda pod: better if pod.name == "py-1" else worse,
        normalize=lambda scores: [100 if score == max(scores) else 0 for score in scores],
    )
    assert isinstance(best, ScheduleResult)
    assert best.pod.name == "py-1"


@pytest.mark.parametrize("moment", [NotATime(2030, 1, 1, tzinfo=UTC), 5, 5.0, timedelta(1)], ids=repr)
def test_what_is_no_time_is_no_retry_at(moment: Any) -> None:
    with pytest.raises(PluginError, match=r"gave retry_at .*; use an aware datetime"):
        planned(filter=lambda pod: Reject("Full", retry_at=moment))


def test_a_time_of_another_class_counts_by_its_value() -> None:
    later = NOW + timedelta(seconds=5)
    moment = PreciseTime.combine(later.date(), later.time(), UTC)
    outcome = planned(filter=lambda pod: Reject("Full", retry_at=moment))
    assert isinstance(outcome, Unschedulable)
    assert (type(outcome.retry_at), outcome.retry_at) == (datetime, later)
