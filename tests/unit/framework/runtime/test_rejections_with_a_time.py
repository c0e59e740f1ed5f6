"""A rejection may turn at a time: the earliest one to come is given with the answer, never a past one."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner, Unschedulable
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.plugins import fake_plugin

RUN = make_run("r")
OPENS = {"py-0": 10, "py-1": 20, "py-2": 30}
"""When Pods open, in seconds."""


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def naps(pod: RuntimePod) -> Reject:
    seconds = OPENS.get(pod.name)
    return Reject("Naps", retry_at=at(seconds)) if seconds is not None else Reject("Naps")


def closed(pod: RuntimePod) -> Reject | None:
    return Reject("Closed") if "closed" in pod.annotations else None


def runner_of() -> Runner:
    filters = [
        fake_plugin("Door", filter=closed, reasons=["Closed"]),
        fake_plugin(filter=naps, reasons=["Naps"]),
    ]
    return Runner(Profile(plugins=tuple(filters)))


def pods(*names: str, closed: str = "") -> list[RuntimePod]:
    return [make_pod(name, annotations={"closed": "yes"} if name == closed else {}) for name in names]


def given(runner: Runner, snapshot: Snapshot) -> datetime | None:
    outcome = runner.plan(RUN, snapshot)
    assert isinstance(outcome, Unschedulable)
    return outcome.retry_at


@pytest.mark.parametrize(
    ("now", "expected"),
    [(0, 10), (9.999, 10), (10, 20), (10.001, 20), (20, 30), (29.999, 30), (30, None), (99, None)],
)
def test_the_earliest_time_to_come_is_given(now: float, expected: int | None) -> None:
    snapshot = make_snapshot(*pods(*OPENS), now=at(now))
    assert given(runner_of(), snapshot) == (at(expected) if expected is not None else None)


def test_a_time_that_has_come_meanwhile_is_not_given_again() -> None:
    """The Pods are as they were, so no filter is called; what follows from its answers is not."""
    runner, unchanged = runner_of(), pods(*OPENS)
    times = [given(runner, make_snapshot(*unchanged, now=at(now))) for now in (0, 10, 20, 30, 99)]
    assert times == [at(10), at(20), at(30), None, None]


def test_the_time_of_a_pod_that_another_filter_rejects_first_is_not_given() -> None:
    assert given(runner_of(), make_snapshot(*pods(*OPENS, closed="py-0"))) == at(20)


def test_the_time_of_a_pod_that_is_gone_is_not_given() -> None:
    runner = runner_of()
    before = make_snapshot(*pods(*OPENS))
    assert given(runner, before) == at(10)
    after = before.pods.replacing("py-0", None)
    assert given(runner, make_snapshot(*[after[name] for name in after])) == at(20)


@pytest.mark.parametrize(
    "changes",
    [
        [("naps", at(5)), ("not", None)],
        [("not", None), ("naps", at(5))],
    ],
    ids=["lost", "gained"],
)
def test_a_changed_pod_is_rejected_by_its_latest_answer_alone(
    changes: list[tuple[str, datetime | None]],
) -> None:
    runner = Runner(
        Profile(
            plugins=(
                fake_plugin(
                    filter=lambda pod: Reject("Naps", retry_at=at(5) if "naps" in pod.annotations else None),
                    reasons=["Naps"],
                ),
            )
        )
    )
    for naps, expected in changes:
        assert given(runner, make_snapshot(make_pod("py-0", annotations={naps: "1"}))) == expected


def test_a_refusal_without_a_time_is_given_again_as_it_was() -> None:
    runner = runner_of()
    unchanged = pods("other")
    one = runner.plan(RUN, make_snapshot(*unchanged))
    other = runner.plan(RUN, make_snapshot(*unchanged, now=at(99)))
    assert one == other
    assert isinstance(other, Unschedulable)
    assert other.retry_at is None
