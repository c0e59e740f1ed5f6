"""An answer out of contract is an error that names the plugin, the hook and the way out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from kruntimes_core import InvalidRun, Reject
from kruntimes_core.framework.profile import PluginError, Profile
from kruntimes_core.framework.runtime import Runner, ScheduleResult
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin

SNAPSHOT = make_snapshot(make_pod("py-0"), make_pod("py-1"))
NAIVE = datetime(2026, 1, 2)


def invalid(reason: Any, message: Any) -> Any:
    def prefilter() -> None:
        raise InvalidRun(reason, message)

    return prefilter


def odd(*parts: Any) -> Reject:
    return Reject(*parts)


def failing() -> None:
    raise RuntimeError("no")


def planned(**hooks: Any) -> Any:
    plugin = fake_plugin(reasons=["Full"], **hooks)
    return Runner(Profile(plugins=(plugin,))).plan(make_run("r"), SNAPSHOT)


@pytest.mark.parametrize(
    ("hook", "hooks", "problem"),
    [
        ("filter", {"filter": lambda pod: 7}, "returned 7; return None or Reject(reason)"),
        ("filter", {"filter": lambda pod: False}, "returned False; return None or Reject(reason)"),
        ("filter", {"filter": lambda pod: Reject("Odd")}, "gave reason 'Odd'; declare it in `reasons`"),
        ("filter", {"filter": lambda pod: odd(7)}, "gave reason 7; declare it in `reasons`"),
        ("filter", {"filter": lambda pod: odd("Full", 7)}, "gave detail 7; use a text"),
        ("filter", {"filter": lambda pod: failing()}, "RuntimeError: no"),
        ("score", {"score": lambda pod: 101}, "returned 101; return an int from 0 to 100"),
        ("score", {"score": lambda pod: -1}, "returned -1; return an int from 0 to 100"),
        ("score", {"score": lambda pod: True}, "returned True; return an int from 0 to 100"),
        ("score", {"score": lambda pod: None}, "returned None; return an int from 0 to 100"),
        (
            "score",
            {"score": lambda pod: None, "normalize": lambda scores: [0, 0]},
            "returned None; return a value that can be ordered",
        ),
        (
            "score",
            {"score": lambda pod: float("nan"), "normalize": lambda scores: [0, 0]},
            "returned nan; return a value that can be ordered",
        ),
        (
            "normalize",
            {"score": lambda pod: 1, "normalize": lambda scores: 5},
            "returned 5; return a sequence of ints",
        ),
        (
            "normalize",
            {"score": lambda pod: 1, "normalize": lambda scores: "55"},
            "returned '55'; return a sequence of ints",
        ),
        (
            "normalize",
            {"score": lambda pod: 1, "normalize": lambda scores: [5]},
            "returned 1 value for 2 scores",
        ),
        (
            "normalize",
            {"score": lambda pod: 1, "normalize": lambda scores: [0, 101]},
            "gave 101; give ints from 0 to 100",
        ),
        (
            "normalize",
            {"score": lambda pod: 1, "normalize": lambda scores: [-1, 0]},
            "gave -1; give ints from 0 to 100",
        ),
        (
            "prefilter",
            {"prefilter": invalid("not camel", "text")},
            "InvalidRun with reason 'not camel'; use a CamelCase name",
        ),
        ("prefilter", {"prefilter": invalid("Camel", 7)}, "InvalidRun with message 7; use a text"),
        ("prefilter", {"prefilter": failing}, "RuntimeError: no"),
    ],
    ids=range(20),
)
def test_the_problem_is_told_once_with_what_to_do(hook: str, hooks: dict[str, Any], problem: str) -> None:
    with pytest.raises(PluginError) as raised:
        planned(**hooks)
    error = raised.value
    assert (error.plugin, error.hook, error.problem, error.overtime) == ("Fake", hook, problem, False)
    assert str(error) == f"plugin Fake (fake-fake 1.0) failed in {hook}: {problem}"


@pytest.mark.parametrize(
    ("answer", "way_out"),
    [
        (Reject("Full", None, NAIVE), "; use an aware datetime"),
        (odd("Full", None, 7), "; use an aware datetime"),
        (odd("Full", None, None, 1), "; use True or False"),
    ],
    ids=range(3),
)
def test_the_parts_of_a_rejection_have_types(answer: Reject, way_out: str) -> None:
    with pytest.raises(PluginError) as raised:
        planned(filter=lambda pod: answer)
    assert raised.value.problem.startswith("gave ")
    assert raised.value.problem.endswith(way_out)


@pytest.mark.parametrize("score", [0, 100])
def test_the_ends_of_the_range_are_in_it(score: int) -> None:
    for hooks in (
        {"score": lambda pod: score},
        {"score": lambda pod: 1, "normalize": lambda scores: [score, score]},
    ):
        outcome = planned(**hooks)
        assert isinstance(outcome, ScheduleResult)
        assert outcome.pod.name == "py-0"
