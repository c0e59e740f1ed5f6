"""The scheduler's patches on a real API server: what they change, what they leave, and who wins a race."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from contrast.cases import INLINE, named, run_spec
from kruntimes_core.crds import crds
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import TERMINAL_PHASES, Phase, RunObservation
from kruntimes_core.model.status_patches import bind_patch, terminal_patch, waiting_patch
from kruntimes_core.testing.objects import condition_object
from realcluster.access import install_crds
from realcluster.client import RUNS, Client, Object, Resource
from realcluster.servers import Cluster

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LARGEST_PATCH = 16 * 1024
"""Bytes that a patch may have: it carries neither source nor what others own."""

OWNED_BY_OTHERS: Object = {
    "phase": "Pending",
    "attempt": 2,
    "startTime": "2026-01-02T03:00:00Z",
    "message": "waiting for room",
    "outputs": {"rows": "12", "note": "ä\n"},
    "artifactRefs": [
        {
            "name": "rows",
            "type": "file",
            "driver": "s3",
            "location": {"s3": {"bucket": "results", "key": "rows.csv"}},
            "sizeBytes": 12,
            "createdAt": "2026-01-02T03:00:01Z",
        }
    ],
    "artifactStore": {"driver": "s3", "s3": {"bucket": "results", "forcePathStyle": True}},
    "endpoint": {"protocol": "HTTPS", "url": "https://10.0.0.7"},
    "conditions": [
        condition_object("Running", False, reason="Evicted", message="the Pod is gone"),
        {**condition_object("example.com/Audited", "Unknown"), "observedGeneration": 1},
    ],
}


def new_run(server: Client, namespace: str, status: Object, resource: Resource = RUNS) -> Object:
    obj = named(resource, run_spec(source={"inline": INLINE["inline"] + "#" * 200_000}))
    obj["metadata"] |= {"labels": {"cohort": "a"}, "finalizers": ["example.com/keep"]}
    made = server.create(resource, obj, namespace)
    assert made.status == 201, made.body
    return write(server, made.body, {"status": status}, resource)


def write(server: Client, obj: Object, patch: Object, resource: Resource = RUNS) -> Object:
    metadata = obj["metadata"]
    answer = server.patch(resource, metadata["name"], patch, metadata["namespace"], "status")
    assert answer.status == 200, answer.body
    written: Object = answer.body
    return written


def read(obj: Object) -> RunObservation:
    observation = Decoder().run(obj)
    assert observation.invalid is None
    return observation


def bind(observation: RunObservation) -> Object:
    return bind_patch(observation, "python-0", "3f6c", NOW)


def unchanged(obj: Object) -> Object:
    """All of an object but its version and the record of who wrote what."""
    rest = copy.deepcopy(obj)
    del rest["metadata"]["resourceVersion"], rest["metadata"]["managedFields"]
    return rest


def by_type(obj: Object) -> dict[str, Object]:
    return {condition["type"]: condition for condition in obj["status"]["conditions"]}


def check_bound(before: Object, after: Object) -> None:
    """After a bind everything is as before, but for the placement and the scheduler's own text."""
    expected = unchanged(before)
    del expected["status"]["message"]
    scheduled = {
        "type": "Scheduled",
        "status": "True",
        "reason": "Assigned",
        "message": "assigned to runtime pod python-0",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    expected["status"] |= {"phase": "Scheduled", "assignedPod": "python-0", "assignedPodUID": "3f6c"}
    expected["status"]["conditions"].append(scheduled)
    assert unchanged(after) == expected


def test_a_bind_changes_the_placement_and_nothing_else(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, OWNED_BY_OTHERS)
    assert before["status"] == OWNED_BY_OTHERS
    patch = bind(read(before))
    assert len(json.dumps(patch)) < LARGEST_PATCH
    assert set(patch) == {"metadata", "status"}
    answered = write(server, before, patch)
    check_bound(before, answered)
    assert server.get(RUNS, before["metadata"]["name"], namespace).body == answered
    assert read(answered).assigned_pod_uid == "3f6c"


@pytest.fixture(scope="module")
def later_runs(cluster: Cluster) -> Resource:
    """Runs of an API that is newer than this host: the status may hold what it has never heard of."""
    crd = next(crd for crd in crds() if crd["spec"]["names"]["kind"] == "Run")
    crd["metadata"]["name"], crd["spec"]["group"] = "runs.later.example.com", "later.example.com"
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    schema["x-kubernetes-preserve-unknown-fields"] = True
    schema["properties"]["conditions"]["items"]["x-kubernetes-preserve-unknown-fields"] = True
    install_crds(cluster, [crd])
    return Resource("later.example.com", "v1alpha1", "runs")


def test_a_bind_keeps_what_a_later_api_added(server: Client, namespace: str, later_runs: Resource) -> None:
    status = {**OWNED_BY_OTHERS, "future": {"field": [1, {"deep": True}]}}
    status["conditions"] = [{**each, "futureNote": "x"} for each in OWNED_BY_OTHERS["conditions"]]
    before = new_run(server, namespace, status, later_runs)
    assert before["status"] == status
    check_bound(before, write(server, before, bind(read(before)), later_runs))


def test_a_condition_that_changed_meanwhile_is_not_overwritten(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, OWNED_BY_OTHERS)
    audited = {**condition_object("example.com/Audited", True), "observedGeneration": 1}
    moved = write(server, before, {"status": {"conditions": [OWNED_BY_OTHERS["conditions"][0], audited]}})
    answer = server.patch(RUNS, before["metadata"]["name"], bind(read(before)), namespace, "status")
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert server.get(RUNS, before["metadata"]["name"], namespace).body == moved
    check_bound(moved, write(server, moved, bind(read(moved))))


PATCHES: dict[str, Callable[[RunObservation], Object | None]] = {
    "bind": bind,
    "waiting": lambda observation: waiting_patch(observation, "waiting for a Pod"),
    "terminal": lambda observation: terminal_patch(observation, Phase.FAILED, "Broken", "it broke", NOW),
}


@pytest.mark.parametrize("kind", PATCHES)
def test_a_stale_version_is_refused(server: Client, namespace: str, kind: str) -> None:
    stale = new_run(server, namespace, {"phase": "Pending"})
    moved = write(server, stale, {"status": {"message": "moved on"}})
    patch = PATCHES[kind](read(stale))
    answer = server.patch(RUNS, stale["metadata"]["name"], patch, namespace, "status")
    assert (answer.status, answer.body["reason"], answer.body["kind"]) == (409, "Conflict", "Status")
    assert server.get(RUNS, stale["metadata"]["name"], namespace).body == moved


def test_a_guarded_patch_of_a_run_that_is_gone(server: Client, namespace: str) -> None:
    answer = server.patch(RUNS, "gone", {"status": {"phase": "Pending"}}, namespace, "status")
    assert (answer.status, answer.body["reason"]) == (404, "NotFound")


def test_a_text_is_written_over_a_run_without_a_status(server: Client, namespace: str) -> None:
    made = server.create(RUNS, named(RUNS, run_spec()), namespace).body
    assert "status" not in made
    patch = waiting_patch(read(made), "waiting for room")
    assert patch is not None
    answered = write(server, made, patch)
    assert answered["status"] == {"phase": "Pending", "message": "waiting for room"}
    assert waiting_patch(read(answered), "waiting for room") is None


@pytest.mark.parametrize(
    ("phase", "reason", "message"),
    [
        (Phase.CANCELLED, "Cancelled", "cancelled before it was placed"),
        (Phase.FAILED, "InvalidResources", "m" * 40_000),
        (Phase.FAILED, "not a name: 7", "ä" * 5_000),
        (Phase.FAILED, "R" * 2_000, ""),
    ],
    ids=["cancelled", "long message", "reason in words", "long reason"],
)
def test_any_end_is_made_to_fit(
    server: Client, namespace: str, phase: Phase, reason: str, message: str
) -> None:
    before = new_run(server, namespace, OWNED_BY_OTHERS)
    patch = terminal_patch(read(before), phase, reason, message, NOW)
    after = write(server, before, patch)
    expected = unchanged(before)
    for owned in ("phase", "message", "completionTime", "conditions"):
        expected["status"][owned] = patch["status"][owned]
    assert unchanged(after) == expected
    assert read(after).phase in TERMINAL_PHASES
    assert by_type(after)["example.com/Audited"] == by_type(before)["example.com/Audited"]
    # It was False before, so its time stays; Completed is new.
    assert by_type(after)["Running"]["lastTransitionTime"] == by_type(before)["Running"]["lastTransitionTime"]
    assert by_type(after)["Completed"]["lastTransitionTime"] == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize("kind", PATCHES)
def test_conditions_that_fill_the_list_are_kept(server: Client, namespace: str, kind: str) -> None:
    full = [condition_object(f"example.com/C{number}", True) for number in range(16)]
    before = new_run(server, namespace, {"phase": "Pending", "conditions": full})
    patch = PATCHES[kind](read(before))
    assert patch is not None
    assert write(server, before, patch)["status"]["conditions"] == full


def test_a_status_patch_answers_with_the_whole_run(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, {"phase": "Pending"})
    after = write(server, before, bind(read(before)))
    assert after["spec"] == before["spec"]
    assert after["metadata"]["generation"] == before["metadata"]["generation"] == 1
    assert int(after["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"])


def test_a_status_patch_that_changes_nothing_makes_no_version(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, {"phase": "Pending", "message": "waiting for room"})
    assert write(server, before, {"status": {"message": "waiting for room"}}) == before


def test_a_status_patch_leaves_spec_and_labels(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, {"phase": "Pending"})
    patch = {
        "metadata": {"labels": {"cohort": "b"}, "annotations": {"a": "b"}, "finalizers": None},
        "spec": {"runtime": "node"},
        "status": {"phase": "Pending", "message": "x"},
    }
    after = write(server, before, patch)
    expected = unchanged(before)
    expected["status"]["message"] = "x"
    assert unchanged(after) == expected


def test_a_patch_of_the_run_leaves_its_status(server: Client, namespace: str) -> None:
    before = new_run(server, namespace, {"phase": "Pending"})
    patch = {"metadata": {"labels": {"cohort": "b"}}, "status": {"phase": "Succeeded"}}
    after = server.patch(RUNS, before["metadata"]["name"], patch, namespace).body
    assert after["status"] == before["status"]
    assert after["metadata"]["labels"] == {"cohort": "b"}
