import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kruntimes_core import LabelSet, Operator, Request, Requirement, Unavailability, WorkspacePhase
from kruntimes_core.testing import (
    affinity_object,
    condition_object,
    make_affinity,
    make_pod,
    make_run,
    make_snapshot,
    make_targets,
    make_workspace,
    matching,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)
from kruntimes_core.testing.objects import time_text


def test_a_selector_wants_all_of_its_labels() -> None:
    selector = matching({"app.kubernetes.io/name": "x"}, tier="gold")
    assert selector.requirements == {
        Requirement("app.kubernetes.io/name", Operator.IN, frozenset({"x"})),
        Requirement("tier", Operator.IN, frozenset({"gold"})),
    }
    assert selector.matches({"app.kubernetes.io/name": "x", "tier": "gold", "more": ""})
    assert not selector.matches({"tier": "gold"})


def test_a_run_always_asks_for_a_place() -> None:
    assert make_run().request == Request({"runs": 1})
    assert make_run(request={"gpu": 2}).request == Request({"runs": 1, "gpu": 2})
    assert make_run(request={"runs": 3}).request == Request({"runs": 3})


def test_equal_descriptions_make_equal_values_and_names_make_uids() -> None:
    assert make_run("r") == make_run("r")
    assert make_run("r").uid != make_run("s").uid
    assert make_pod("py-0", targets=[{"app": "a"}]) == make_pod("py-0", targets=[{"app": "a"}])
    assert make_pod("py-0", uid="P0").uid == "P0"


def test_values_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        make_pod().name = "other"  # type: ignore[misc]


def test_affinity_keeps_weights_and_order() -> None:
    a, b = matching(app="a"), matching(app="b")
    affinity = make_affinity(required=[a, b], required_anti=[b], preferred=[(5, a)], preferred_anti=[(7, b)])
    assert [term.selector for term in affinity.required] == [a, b]
    assert [term.selector for term in affinity.required_anti] == [b]
    assert [(term.weight, term.term.selector) for term in affinity.preferred] == [(5, a)]
    assert [(term.weight, term.term.selector) for term in affinity.preferred_anti] == [(7, b)]


def test_a_pod_counts_its_targets_and_bears_its_runtime() -> None:
    pod = make_pod(runtime="js", labels={"zone": "z"}, targets=[{"app": "a"}, {"app": "a"}, {}])
    assert dict(pod.targets) == {LabelSet({"app": "a"}): 2, LabelSet(): 1}
    assert dict(pod.labels) == {"runtime": "js", "zone": "z"}
    assert pod.available
    assert not make_pod(unavailable=Unavailability.NOT_READY).available


def test_an_empty_capacity_is_not_the_default_one() -> None:
    assert dict(make_pod().capacity) == {"runs": 2}
    assert dict(make_pod(capacity={}).capacity) == {}


def test_a_snapshot_adds_up_the_targets_of_the_namespace() -> None:
    snapshot = make_snapshot(
        make_pod("py-0", targets=[{"app": "a"}]),
        make_pod("py-1", targets=[{"app": "a"}, {"app": "b"}]),
        elsewhere=[{"app": "b"}],
        workspaces=[make_workspace("ws")],
    )
    assert snapshot.targets == make_targets([{"app": "a"}] * 2 + [{"app": "b"}] * 2)
    assert sorted(snapshot.pods) == ["py-0", "py-1"]
    assert snapshot.workspaces["ws"].phase is WorkspacePhase.BOUND


def test_a_run_object_is_pending_or_runs_on_its_pod() -> None:
    assert run_object()["status"] == {"phase": "Pending"}
    placed = run_object(pod="py-0")
    assert placed["status"] == {"phase": "Running", "assignedPod": "py-0", "assignedPodUID": "uid-py-0"}
    assert run_object(pod="py-0", pod_uid="P0", phase="Ready")["status"]["assignedPodUID"] == "P0"


def test_an_object_leaves_out_what_is_not_given() -> None:
    assert set(run_object()["spec"]) == {"runtime", "mode", "source"}
    assert "labels" not in run_object()["metadata"]
    assert "boundPod" not in workspace_object(phase="Pending", bound_pod=None)["status"]


def test_further_fields_win() -> None:
    run = run_object(
        spec={"cancelRequested": True},
        status={"attempt": 2},
        metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"},
    )
    assert run["spec"]["cancelRequested"] is True
    assert run["spec"]["runtime"] == "py"
    assert run["status"] == {"phase": "Pending", "attempt": 2}
    assert run["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"


def test_times_are_written_in_utc() -> None:
    an_hour_ahead = datetime(2026, 1, 2, 4, 4, 5, 600_000, tzinfo=timezone(timedelta(hours=1)))
    assert time_text(an_hour_ahead) == "2026-01-02T03:04:05Z"


def test_affinity_objects_use_the_long_names_of_the_api() -> None:
    term = term_object({"app": "a"}, expressions=[{"key": "tier", "operator": "Exists"}])
    assert term["topologyKey"] == "kruntimes.io/runtime-pod"
    assert affinity_object() == {}
    affinity = affinity_object(required=[term], preferred_anti=[(3, term)])
    assert affinity == {
        "runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        "runAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "runAffinityTerm": term}]
        },
    }


def test_a_pod_object_advertises_and_beats() -> None:
    beat = datetime(2026, 1, 2, 3, 4, 9, tzinfo=UTC)
    pod = pod_object(capacity={"runs": "4"}, ready=False, probed_at=beat)
    assert pod["metadata"]["annotations"] == {"kruntimes.io/capacity.runs": "4"}
    assert pod["metadata"]["labels"]["runtime"] == "py"
    by_type = {condition["type"]: condition for condition in pod["status"]["conditions"]}
    assert by_type["Ready"]["status"] == "False"
    assert by_type["kruntimes.io/RuntimedReady"]["lastProbeTime"] == "2026-01-02T03:04:09Z"


def test_a_condition_is_complete() -> None:
    condition = condition_object("Running", False, reason="Stopped", message="gone")
    assert condition == {
        "type": "Running",
        "status": "False",
        "reason": "Stopped",
        "message": "gone",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    assert condition_object("Ready", "Unknown")["status"] == "Unknown"


@pytest.mark.parametrize("build", [run_object, pod_object, workspace_object])
def test_objects_are_json_and_never_shared(build: object) -> None:
    assert callable(build)
    first, second = build(), build()
    assert json.loads(json.dumps(first)) == first == second
    first["metadata"]["name"] = "changed"
    assert second["metadata"]["name"] != "changed"
