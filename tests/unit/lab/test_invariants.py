"""Each rule of the checker, broken once; and histories that break none."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.lab.invariants import (
    Invariant,
    InvariantChecker,
    ObjectVersion,
    PodVersion,
    RunVersion,
    pod_version,
    run_version,
)


def pod(version: int, uid: str = "P0", *, slots: int = 1, ready: bool = True, **more: Any) -> PodVersion:
    return PodVersion(
        namespace="ns",
        name="pod-0",
        uid=uid,
        version=str(version),
        ready=ready,
        capacity={"runs": slots},
        **more,
    )


def run(version: int, name: str, phase: str, pod_uid: str = "P0", **more: Any) -> RunVersion:
    bound = phase not in ("Pending",)
    fields: dict[str, Any] = {"requests": {"runs": 1}, "substance": version, "pod": "pod-0" if bound else ""}
    return RunVersion(
        name=name,
        uid=f"uid-{name}",
        version=str(version),
        phase=phase,
        pod_uid=pod_uid if bound else "",
        **{"namespace": "ns"} | fields | more,
    )


def broken(*history: ObjectVersion, own: tuple[str, ...] = (), pods_may_go: bool = False) -> list[str]:
    """The rules that a history broke. own: versions that are not judged."""
    checker = InvariantChecker(pods_may_go=pods_may_go, cohort_label="cohort")
    taken = [checker.take(version, judged=version.version not in own) for version in history]
    return [violation.invariant.value for violations in taken for violation in violations]


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
    assert broken(*history, own=("4", "5", "7", "12")) == []


@pytest.mark.parametrize(
    ("rule", "history"),
    [
        (Invariant.OVERCOMMITTED, (pod(1), run(2, "a", "Scheduled"), run(3, "b", "Scheduled"))),
        (Invariant.OVERCOMMITTED, (pod(1, slots=2), run(2, "a", "Scheduled", requests={"runs": 3}))),
        (Invariant.OVERCOMMITTED, (pod(1), run(2, "a", "Scheduled", requests={"runs": 1, "gpu": 1}))),
        (
            Invariant.BOUND_TWICE,
            (pod(1), pod(2, "P1"), run(3, "a", "Scheduled"), run(4, "a", "Scheduled", "P1")),
        ),
        (Invariant.POD_NOT_ALIVE, (run(1, "a", "Scheduled"),)),
        (Invariant.POD_NOT_ALIVE, (run(1, "a", "Scheduled"), pod(2))),
        (Invariant.POD_NOT_ALIVE, (pod(1), pod(2, gone=True), run(3, "a", "Scheduled"))),
        (Invariant.POD_NOT_ALIVE, (pod(1, ready=False), run(2, "a", "Scheduled"))),
        (Invariant.POD_NOT_ALIVE, (pod(1), run(2, "a", "Scheduled", pod="pod-9"))),
        (Invariant.POD_NOT_ALIVE, (pod(1), run(2, "a", "Scheduled", namespace="other"))),
        (Invariant.OTHER_RUNTIME, (pod(1, runtime="py"), run(2, "a", "Scheduled", runtime="js"))),
        (
            Invariant.COHORT_APART,
            (
                pod(1),
                pod(2, "P1"),
                run(3, "a", "Scheduled", labels={"cohort": "c"}),
                run(4, "b", "Scheduled", "P1", labels={"cohort": "c"}),
            ),
        ),
        (Invariant.BOUND_TWICE, (pod(1), run(2, "a", "Running"), run(3, "a", "Scheduled"))),
        (Invariant.RUN_LOST, (run(1, "a", "Pending"), run(2, "a", "Succeeded"))),
        (Invariant.RUN_LOST, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Pending"))),
        (Invariant.RUN_LOST, (run(1, "a", "Pending"), run(2, "a", "Pending", gone=True))),
        (Invariant.RUN_LOST, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Failed"))),
        (Invariant.EMPTY_WRITE, (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Scheduled", substance=2))),
    ],
)
def test_a_rule_that_is_broken_is_named_once(rule: Invariant, history: tuple[ObjectVersion, ...]) -> None:
    assert broken(*history) == [rule.value]


def test_a_run_is_bound_once_in_an_attempt() -> None:
    history = (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Pending"), run(4, "a", "Scheduled"))
    assert broken(*history, own=("3",)) == ["boundTwice"]


def test_a_cohort_may_begin_again_where_none_of_it_is_left_and_another_one_where_it_likes() -> None:
    history = (
        pod(1, slots=9),
        pod(2, "P1", slots=9),
        run(3, "a", "Scheduled", labels={"cohort": "c"}),
        run(4, "b", "Scheduled", labels={"cohort": "c"}),
        run(5, "other", "Scheduled", "P1", labels={"cohort": "d"}),
        run(6, "a", "Succeeded", labels={"cohort": "c"}),
        run(7, "b", "Scheduled", labels={"cohort": "c"}, gone=True),
        run(8, "e", "Scheduled", "P1", labels={"cohort": "c"}),
    )
    assert broken(*history, own=("6", "7")) == []


def test_what_pods_and_owners_write_breaks_nothing() -> None:
    history = (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Failed"), run(4, "a", "Failed", substance=3))
    assert broken(*history, own=("3", "4")) == []


def test_what_was_there_before_holds_room() -> None:
    assert broken(pod(1), run(2, "a", "Scheduled"), run(3, "b", "Scheduled"), own=("2",)) == ["overcommitted"]


def test_a_bind_may_be_on_its_way_while_its_pod_goes() -> None:
    history = (pod(1, ready=False), run(2, "a", "Scheduled"), run(3, "b", "Scheduled", "P1"))
    assert broken(*history, pods_may_go=True) == []
    assert broken(*history) == ["podNotAlive"] * 2


def test_a_run_in_a_phase_of_a_later_version_holds_room() -> None:
    assert broken(pod(1), run(2, "a", "Paused"), run(3, "b", "Scheduled"), own=("2",)) == ["overcommitted"]


def test_binds_and_usage_are_counted() -> None:
    checker = InvariantChecker()
    checker.take(pod(1, slots=2))
    checker.take(run(2, "a", "Running"), judged=False)
    checker.take(run(3, "b", "Scheduled", requests={"runs": 1, "cpu": 2}))
    assert (checker.binds, checker.usage("P0")) == ({("uid-b", 1): 1}, {"runs": 2, "cpu": 2})
    checker.take(run(4, "b", "Succeeded"))
    checker.take(run(5, "a", "Running", gone=True), judged=False)
    assert (checker.usage("P0"), checker.usage("P1")) == ({}, {})


def test_a_violation_says_which_run_and_why() -> None:
    checker = InvariantChecker()
    checker.take(pod(1))
    checker.take(run(2, "a", "Scheduled"))
    (violation,) = checker.take(run(3, "b", "Scheduled"))
    assert violation.text == "run ns/b at version 3: pod pod-0 is oversold: runs=2 of 1"


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
    seen = run_version(api_run(7, phase="Running", assignedPod="p", assignedPodUID="P", attempt=3))
    assert (seen.phase, seen.pod, seen.pod_uid, seen.attempt) == ("Running", "p", "P", 3)
    assert (seen.labels, seen.requests, seen.active) == ({"role": "load"}, {"runs": 1, "gpu": 2}, True)
    assert seen.runtime == "py"
    bare = run_version(api_run(7))
    assert (bare.phase, bare.attempt, bare.active) == ("Pending", 1, False)


def test_amounts_are_quantities_and_what_cannot_be_read_holds_no_room() -> None:
    requests = {"cpu": "1500m", "memory": "1Ki", "gpu": "many", "disk": -1, "runs": "0"}
    read = run_version({**api_run(7), "spec": {"resources": {"requests": requests}}})
    assert read.requests == {"runs": 1, "cpu": 2, "memory": 1024}
    annotations = {"kruntimes.io/capacity.runs": "none", "kruntimes.io/capacity.memory": "1Ki", "other": "1"}
    pod = pod_version({"metadata": {**api_run(7)["metadata"], "annotations": annotations}})
    assert pod.capacity == {"runs": 2, "memory": 1024}


def test_what_is_not_an_object_has_no_members() -> None:
    read = run_version({**api_run(7), "spec": "none", "status": []})
    assert (read.runtime, read.phase, read.requests) == ("", "Pending", {"runs": 1})


def test_moments_and_versions_are_no_substance() -> None:
    def condition(since: str, said: str) -> dict[str, Any]:
        return {"conditions": [{"type": "Scheduled", "lastTransitionTime": since, "message": said}]}

    first = run_version(api_run(1, **condition("T1", "said")))
    assert run_version(api_run(2, **condition("T2", "said"))).substance == first.substance
    assert run_version(api_run(2, **condition("T1", "other"))).substance != first.substance


def test_a_pod_is_ready_by_both_conditions_and_its_phase() -> None:
    def read(*conditions: str, phase: str = "Running", **metadata: str) -> PodVersion:
        return pod_version(
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
