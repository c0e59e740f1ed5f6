"""The planner against a second one, written from the rules alone, on thousands of small clusters."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.times import format_time
from kruntimes_core.testing.builders import NOW
from tests.scenarios.clusters import Clusters, Object
from tests.scenarios.planning import document_of
from tests.scenarios.reference import Answer, ReferencePlanner

CLUSTERS_OF_A_SEED = 250


def differs(objects: list[Object], profiles: Profiles) -> str | None:
    """What the two planners disagree on, or None."""
    reference = ReferencePlanner(objects, NOW).plan()
    made: list[dict[str, Any]] = document_of(objects, profiles)["decisions"]
    final = [_told(one) for one in made if one["outcome"] != "Waiting"]
    expected = [_expected(one) for one in reference.final]
    if final != expected:
        return f"decided {final}, not {expected}"
    waiting = {(one["namespace"], one["run"]): one for one in made if one["outcome"] == "Waiting"}
    answers = {(one.namespace, one.run): one for _, one in reference.waiting}
    if waiting.keys() != answers.keys():
        return f"waiting are {[*waiting]}, not {[*answers]}"
    return next(
        (
            f"{one} against {answers[key]}"
            for key, one in waiting.items()
            if not _agrees(one, answers[key], made)
        ),
        None,
    )


def _agrees(made: dict[str, Any], answer: Answer, plan: list[dict[str, Any]]) -> bool:
    """A waiting Run: a reason that it had at some time, and a place not before it was first tried."""
    before = sum(other["outcome"] != "Waiting" for other in plan[: plan.index(made)])
    return made["reason"] in answer.reasons and made["never"] is answer.never and before >= answer.after


def _told(made: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(made[key] for key in ("namespace", "run", "outcome", "reason", "pod", "until"))


def _expected(answer: Answer) -> tuple[Any, ...]:
    until = format_time(answer.until) if answer.until else None
    return (answer.namespace, answer.run, answer.outcome, answer.reason, answer.pod, until)


def _smallest(objects: list[Object], profiles: Profiles) -> list[Object]:
    """What is left of a cluster when everything is taken out that the disagreement does not need."""
    for one in list(objects):
        fewer = [other for other in objects if other is not one]
        if differs(fewer, profiles):
            objects = fewer
    return objects


@pytest.mark.parametrize("seed", range(8))
def test_crowded_clusters_are_planned_as_the_rules_say(seed: int, profiles: Profiles) -> None:
    clusters = Clusters(Random(seed))
    for _ in range(CLUSTERS_OF_A_SEED):
        objects = clusters.cluster()
        if differs(objects, profiles):
            smallest = _smallest(objects, profiles)
            pytest.fail(f"{differs(smallest, profiles)}\nin {smallest}")


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_any_small_cluster_is_planned_as_the_rules_say(random: Random, profiles: Profiles) -> None:
    assert differs(Clusters(random).cluster(), profiles) is None


def test_the_clusters_are_worth_planning() -> None:
    clusters = Clusters(Random(0))
    outcomes: dict[str, int] = {}
    woken = 0
    for _ in range(200):
        reference = ReferencePlanner(clusters.cluster(), NOW).plan()
        tried = [run["metadata"]["uid"] for run in reference.pending]
        final = [tried.index(f"uid-{answer.run}") for answer in reference.final]
        woken += final != sorted(final)
        for answer in [*reference.final, *(answer for _, answer in reference.waiting)]:
            outcomes[answer.outcome] = outcomes.get(answer.outcome, 0) + 1
    assert woken >= 10
    assert outcomes["Scheduled"] >= 300
    assert {"Waiting", "Failed", "Cancelled", "Backoff", "Ignored"} <= outcomes.keys()
