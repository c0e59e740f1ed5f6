"""Each rule of the judge, broken once; and histories that break none."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.lab.bench.live.observing.judge import Judge, Rule
from kruntimes_core.lab.bench.live.observing.seen import Seen, SeenPod, SeenRun, seen_pod, seen_run


def pod(version: int, uid: str = "P0", *, slots: int = 1, ready: bool = True, **more: Any) -> SeenPod:
    return SeenPod(
        namespace="ns",
        name="pod-0",
        uid=uid,
        version=str(version),
        ready=ready,
        capacity={"runs": slots},
        **more,
    )


def run(version: int, name: str, phase: str, pod_uid: str = "P0", **more: Any) -> SeenRun:
    bound = phase not in ("Pending",)
    fields: dict[str, Any] = {"requests": {"runs": 1}, "substance": version, "pod": "pod-0" if bound else ""}
    return SeenRun(
        name=name,
        uid=f"uid-{name}",
        version=str(version),
        phase=phase,
        pod_uid=pod_uid if bound else "",
        **{"namespace": "ns"} | fields | more,
    )


def broken(*history: Seen, own: tuple[str, ...] = (), cleared: tuple[str, ...] = ()) -> list[str]:
    return [finding.rule.value for finding in Judge(own, cleared).all(history)]


def test_a_history_by_the_rules_breaks_none() -> None:
    history = (
        pod(1),
        run(2, "a", "Pending"),
        run(3, "a", "Scheduled"),
        run(4, "a", "Running"),
        run(5, "a", "Succeeded"),
        run(6, "b", "Scheduled"),
        run(7, "b", "Pending"),
        run(8, "b", "Scheduled", attempt=2),
        pod(9, gone=True),
        pod(10, "P1"),
        run(11, "c", "Scheduled", "P1"),
        run(12, "c", "Scheduled", "P1", gone=True),
    )
    assert broken(*history, own=("4", "5", "7"), cleared=("uid-c",)) == []


@pytest.mark.parametrize(
    ("rule", "history"),
    [
        (Rule.OVERCOMMITTED, (pod(1), run(2, "a", "Scheduled"), run(3, "b", "Scheduled"))),
        (Rule.OVERCOMMITTED, (pod(1, slots=2), run(2, "a", "Scheduled", requests={"runs": 3}))),
        (Rule.OVERCOMMITTED, (pod(1), run(2, "a", "Scheduled", requests={"runs": 1, "gpu": 1}))),
        (Rule.BOUND_TWICE, (pod(1), pod(2, "P1"), run(3, "a", "Scheduled"), run(4, "a", "Scheduled", "P1"))),
        (Rule.POD_NOT_ALIVE, (run(1, "a", "Scheduled"),)),
        (Rule.POD_NOT_ALIVE, (run(1, "a", "Scheduled"), pod(2))),
        (Rule.POD_NOT_ALIVE, (pod(1), pod(2, gone=True), run(3, "a", "Scheduled"))),
        (Rule.POD_NOT_ALIVE, (pod(1, ready=False), run(2, "a", "Scheduled"))),
        (Rule.POD_NOT_ALIVE, (pod(1), run(2, "a", "Scheduled", pod="pod-9"))),
        (Rule.POD_NOT_ALIVE, (pod(1), run(2, "a", "Scheduled", namespace="other"))),
        (Rule.OTHER_RUNTIME, (pod(1, runtime="py"), run(2, "a", "Scheduled", runtime="js"))),
        (
            Rule.COHORT_APART,
            (
                pod(1),
                pod(2, "P1"),
                run(3, "a", "Scheduled", cohort="c"),
                run(4, "b", "Scheduled", "P1", cohort="c"),
            ),
        ),
        (Rule.BOUND_TWICE, (pod(1), run(2, "a", "Running"), run(3, "a", "Scheduled"))),
        (Rule.RUN_LOST, (run(1, "a", "Pending"), run(2, "a", "Succeeded"))),
        (Rule.RUN_LOST, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Pending"))),
        (Rule.RUN_LOST, (run(1, "a", "Pending"), run(2, "a", "Pending", gone=True))),
        (Rule.RUN_LOST, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Failed"))),
        (Rule.EMPTY_WRITE, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Scheduled", substance=2))),
    ],
)
def test_a_rule_that_is_broken_is_named_once(rule: Rule, history: tuple[Seen, ...]) -> None:
    assert broken(*history) == [rule.value]


def test_a_run_is_bound_once_in_an_attempt() -> None:
    history = (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Pending"), run(4, "a", "Scheduled"))
    assert broken(*history, own=("3",)) == ["boundTwice"]


def test_a_cohort_may_begin_again_where_none_of_it_is_left_and_another_one_where_it_likes() -> None:
    history = (
        pod(1, slots=9),
        pod(2, "P1", slots=9),
        run(3, "a", "Scheduled", cohort="c"),
        run(4, "b", "Scheduled", cohort="c"),
        run(5, "other", "Scheduled", "P1", cohort="d"),
        run(6, "a", "Succeeded", cohort="c"),
        run(7, "b", "Scheduled", cohort="c", gone=True),
        run(8, "e", "Scheduled", "P1", cohort="c"),
    )
    assert broken(*history, own=("6",), cleared=("uid-b",)) == []


def test_what_pods_and_owners_write_breaks_nothing() -> None:
    history = (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Failed"), run(4, "a", "Failed", substance=3))
    assert broken(*history, own=("3", "4")) == []


def test_versions_are_judged_in_the_order_of_the_store_and_not_of_the_watches() -> None:
    assert broken(run(11, "a", "Scheduled"), run(9, "a", "Pending"), pod(10)) == []


def test_a_finding_says_which_run_and_why() -> None:
    (finding,) = Judge().all([pod(1), run(2, "a", "Scheduled"), run(3, "b", "Scheduled")])
    assert finding.text == "run ns/b at version 3: pod pod-0 is oversold: runs=2 of 1"


def api_run(version: int, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": "ns",
            "name": "a",
            "uid": "u",
            "resourceVersion": str(version),
            "labels": {"role": "load"},
            "managedFields": [{"time": version}],
        },
        "spec": {"runtime": "py", "resources": {"requests": {"gpu": 2}}},
        "status": status,
    }


def test_a_run_is_read_as_the_contract_has_it() -> None:
    seen = seen_run(api_run(7, phase="Running", assignedPod="p", assignedPodUID="P", attempt=3), "role")
    assert (seen.phase, seen.pod, seen.pod_uid, seen.attempt) == ("Running", "p", "P", 3)
    assert (seen.role, dict(seen.requests), seen.active) == ("load", {"runs": 1, "gpu": 2}, True)
    assert seen.runtime == "py"
    assert seen_run(api_run(7), "", "role").cohort == "load"
    bare = seen_run(api_run(7))
    assert (bare.phase, bare.attempt, bare.active) == ("Pending", 1, False)


def test_moments_and_versions_are_no_substance() -> None:
    def condition(since: str, said: str) -> dict[str, Any]:
        return {"conditions": [{"type": "Scheduled", "lastTransitionTime": since, "message": said}]}

    first = seen_run(api_run(1, **condition("T1", "said")))
    assert seen_run(api_run(2, **condition("T2", "said"))).substance == first.substance
    assert seen_run(api_run(2, **condition("T1", "other"))).substance != first.substance


def test_a_pod_is_ready_by_both_conditions_and_its_phase() -> None:
    def read(*conditions: str, phase: str = "Running", **metadata: str) -> SeenPod:
        return seen_pod(
            {
                "metadata": {
                    "namespace": "ns",
                    "name": "p",
                    "uid": "u",
                    "resourceVersion": "1",
                    "annotations": {"kruntimes.io/capacity.gpu": "2"},
                    "labels": {"runtime": "py"},
                    **metadata,
                },
                "status": {
                    "phase": phase,
                    "conditions": [{"type": one, "status": "True"} for one in conditions],
                },
            }
        )

    both = ("Ready", "kruntimes.io/RuntimedReady")
    assert read(*both).ready
    assert dict(read(*both).capacity) == {"runs": 2, "gpu": 2}
    assert read(*both).runtime == "py"
    assert not read("Ready").ready
    assert not read(*both, phase="Pending").ready
    assert not read(*both, deletionTimestamp="T").ready
