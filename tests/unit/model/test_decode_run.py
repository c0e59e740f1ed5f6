import reprlib
from datetime import UTC, datetime
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.testing import condition_object, run_object, term_object

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def decoded(**parts: Any) -> RunObservation:
    return Decoder().run(run_object(**parts))


def test_what_the_scheduler_needs_is_kept() -> None:
    observation = decoded(
        version="77",
        labels={"app": "a"},
        requests={"gpu": "1"},
        workspace="ws-1",
        pod="py-0",
        pod_uid="P0",
        metadata={"annotations": {"team": "red"}},
        status={"attempt": 3, "message": "hello"},
    )
    run = observation.run
    assert (run.namespace, run.name, run.uid, run.runtime) == ("team-a", "run", "uid-run", "py")
    assert (dict(run.labels), dict(run.annotations)) == ({"app": "a"}, {"team": "red"})
    assert (dict(run.request), run.workspace, run.attempt) == ({"gpu": 1, "runs": 1}, "ws-1", 3)
    assert run.created == T0
    assert (observation.version, observation.phase) == ("77", Phase.RUNNING)
    assert (observation.assigned_pod, observation.assigned_pod_uid) == ("py-0", "P0")
    assert observation.message == "hello"
    assert observation.active
    assert observation.invalid is None


def test_nothing_large_of_others_is_kept() -> None:
    secret = "s" * 500
    observation = decoded(
        spec={"source": {"inline": secret}, "env": [{"name": "A", "value": secret}]},
        metadata={
            "managedFields": [{"manager": secret}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": secret},
        },
        status={"outputs": {"o": secret}, "endpoint": {"url": secret}, "artifactRefs": [{"name": secret}]},
    )
    assert secret not in repr(observation)
    assert not observation.run.annotations


@pytest.mark.parametrize(
    ("phase", "known"),
    [
        (None, Phase.PENDING),
        ("", Phase.PENDING),
        ("Pending", Phase.PENDING),
        ("Scheduled", Phase.SCHEDULED),
        ("Running", Phase.RUNNING),
        ("Ready", Phase.READY),
        ("Succeeded", Phase.SUCCEEDED),
        ("Failed", Phase.FAILED),
        ("Timeout", Phase.TIMEOUT),
        ("Cancelled", Phase.CANCELLED),
        ("Suspended", Phase.UNKNOWN),
        ("pending", Phase.UNKNOWN),
        (5, Phase.UNKNOWN),
        (["Running"], Phase.UNKNOWN),
    ],
)
def test_phases_are_the_contracts_and_others_are_unknown(phase: object, known: Phase) -> None:
    assert decoded(status={"phase": phase}).phase is known


def test_a_run_without_a_status_is_pending() -> None:
    obj = run_object()
    del obj["status"]
    for without in (obj, obj | {"status": None}, obj | {"status": {}}):
        observation = Decoder().run(without)
        assert (observation.phase, observation.invalid) == (Phase.PENDING, None)


def test_an_unknown_phase_with_a_pod_holds_room_and_one_without_does_not() -> None:
    assert decoded(pod="py-0", phase="Suspended").active
    assert not decoded(phase="Suspended").active


@pytest.mark.parametrize("nothing", ["", None, 5, [], {}])
def test_an_assignment_that_is_no_text_is_none(nothing: object) -> None:
    observation = decoded(status={"phase": "Running", "assignedPod": nothing, "assignedPodUID": nothing})
    assert (observation.assigned_pod, observation.assigned_pod_uid) == (None, None)
    assert not observation.active


@pytest.mark.parametrize(
    ("attempt", "counts_as"),
    [(None, 1), (0, 1), (1, 1), (2, 2), (10**30, 10**30), (-3, 1), ("2", 1), (2.0, 1), (True, 1), ([], 1)],
)
def test_attempts_count_from_one(attempt: object, counts_as: int) -> None:
    counted = decoded(status={"attempt": attempt}).run.attempt
    assert (counted, type(counted)) == (counts_as, int)


NO_BACKOFF: list[object] = [None, "", "1d", "10", 5, "0s", "-5s", []]
NO_POLICY: list[object] = [None, {}, [], "1s", 7]
SINGLE_FIELDS: dict[str, list[tuple[dict[str, Any], object]]] = {
    "backoff_seconds": [
        ({"spec": {"retryPolicy": {"backoff": "5s"}}}, 5.0),
        ({"spec": {"retryPolicy": {"backoff": "1h30m"}}}, 5400.0),
        ({"spec": {"retryPolicy": {"backoff": "100ms"}}}, 0.1),
        *[({"spec": {"retryPolicy": {"backoff": value}}}, 1.0) for value in NO_BACKOFF],
        *[({"spec": {"retryPolicy": policy}}, 1.0) for policy in NO_POLICY],
    ],
    "cancel_requested": [
        ({"spec": {"cancelRequested": True}}, True),
        *[({"spec": {"cancelRequested": value}}, False) for value in (False, None, "true", 1)],
    ],
    "deleting": [
        *[({"metadata": {"deletionTimestamp": v}}, True) for v in ("2026-01-02T03:04:05Z", "odd", 5)],
        *[({"metadata": {"deletionTimestamp": v}}, False) for v in (None, "")],
    ],
}


@pytest.mark.parametrize(
    ("field", "parts", "value"),
    [(field, parts, value) for field, rows in SINGLE_FIELDS.items() for parts, value in rows],
    ids=reprlib.repr,
)
def test_a_single_field_is_read_or_has_its_default(field: str, parts: dict[str, Any], value: object) -> None:
    observation = decoded(**parts)
    assert getattr(observation, field) == value
    assert observation.invalid is None


@pytest.mark.parametrize(
    ("conditions", "stopped_at"),
    [
        ([condition_object("Running", False)], T0),
        ([condition_object("Ready", False), condition_object("Running", False)], T0),
        ([condition_object("Running", True)], None),
        ([condition_object("Running", "Unknown")], None),
        ([{"type": "Running", "status": "False"}], None),
        ([{"type": "Running", "status": "False", "lastTransitionTime": "soon"}], None),
        ([{"type": "Running", "status": False, "lastTransitionTime": "2026-01-02T03:04:05Z"}], None),
        ([None, 5, [], {"type": ["Running"]}], None),
        ({"type": "Running", "status": "False"}, None),
        (None, None),
    ],
    ids=reprlib.repr,
)
def test_the_retry_delay_counts_from_the_condition_running_false(
    conditions: object, stopped_at: datetime | None
) -> None:
    assert decoded(status={"conditions": conditions}).stopped_at == stopped_at


def test_conditions_are_kept_as_they_stand_while_the_run_is_pending() -> None:
    conditions = [condition_object("Running", False), {"type": "X", "future": [1, None]}, "odd", None]
    assert decoded(status={"conditions": conditions}).conditions == tuple(conditions)
    assert decoded(pod="py-0", status={"conditions": conditions}).conditions == ()
    assert decoded(status={"conditions": {"type": "Running"}}).conditions == ()


INVALID_OBJECTS = [
    ({"spec": {"runtime": None}}, "spec.runtime", "null is not a Runtime"),
    ({"spec": {"runtime": ""}}, "spec.runtime", "'' is not a Runtime"),
    ({"spec": {"runtime": 5}}, "spec.runtime", "5 is not a Runtime"),
    ({"metadata": {"name": None}}, "metadata.name", "null is not a name"),
    ({"metadata": {"name": 7}}, "metadata.name", "7 is not a name"),
    ({"metadata": {"name": ""}}, "metadata.name", "'' is not a name"),
    ({"metadata": {"namespace": ["a"]}}, "metadata.namespace", "a list is not a namespace"),
    ({"metadata": {"uid": 9}}, "metadata.uid", "9 is not a UID"),
    ({"metadata": {"labels": {"app": 1}}}, "metadata.labels", "keys and values must be strings"),
    ({"metadata": {"labels": {"app": None}}}, "metadata.labels", "keys and values must be strings"),
    ({"metadata": {"labels": {"app": ["a"]}}}, "metadata.labels", "keys and values must be strings"),
    ({"metadata": {"labels": ["app"]}}, "metadata.labels", "keys and values must be strings"),
    ({"metadata": {"labels": "app=a"}}, "metadata.labels", "keys and values must be strings"),
    ({"metadata": {"annotations": {"a": True}}}, "metadata.annotations", "keys and values must be strings"),
    ({"metadata": {"annotations": []}}, "metadata.annotations", "keys and values must be strings"),
]


@pytest.mark.parametrize(("parts", "path", "says"), INVALID_OBJECTS, ids=reprlib.repr)
def test_an_object_that_is_no_run_says_which_field(parts: dict[str, Any], path: str, says: str) -> None:
    invalid = decoded(**parts).invalid
    assert invalid is not None
    assert (invalid.reason, invalid.path, invalid.unreadable) == ("InvalidObject", path, True)
    assert invalid.message.startswith(path)
    assert says in invalid.message


@pytest.mark.parametrize(
    ("part", "value", "path"),
    [
        ("metadata", None, "metadata.namespace"),
        ("metadata", [], "metadata.namespace"),
        ("spec", None, "spec"),
        ("spec", "x", "spec"),
        ("spec", {}, "spec.runtime"),
        ("status", "Running", "status"),
        ("status", [], "status"),
    ],
)
def test_a_part_of_a_wrong_type_makes_the_object_invalid(part: str, value: object, path: str) -> None:
    invalid = Decoder().run(run_object() | {part: value}).invalid
    assert invalid is not None
    assert (invalid.reason, invalid.path) == ("InvalidObject", path)


def test_labels_that_are_strings_count_even_beside_one_that_is_not() -> None:
    observation = decoded(pod="py-0", metadata={"labels": {"app": "a", "tier": 1}})
    assert dict(observation.run.labels) == {"app": "a"}
    assert observation.active


WRONG: dict[str, dict[str, Any]] = {
    "InvalidObject": {"runtime": 5},
    "InvalidResources": {"resources": {"requests": {"gpu": "1K"}}},
    "InvalidAffinity": {
        "affinity": {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term_object()]}}
    },
    "InvalidWorkspace": {"workspace": {"name": "ws", "kind": "Volume"}},
}


@pytest.mark.parametrize("first", range(4))
def test_of_several_problems_the_first_kind_is_the_verdict(first: int) -> None:
    spec: dict[str, Any] = {}
    for wrong in list(WRONG.values())[first:]:
        spec |= wrong
    invalid = decoded(spec=spec).invalid
    assert invalid is not None
    assert invalid.reason == list(WRONG)[first]


@pytest.mark.parametrize(
    ("workspace", "name"),
    [
        (None, None),
        ({"name": "ws-1"}, "ws-1"),
        ({"name": "a.b-c.0", "kind": "PersistentWorkspace", "apiGroup": "kruntimes.io/v1alpha1"}, "a.b-c.0"),
        ({"name": "ws", "kind": None, "apiGroup": ""}, "ws"),
        ({"name": "n" * 253}, "n" * 253),
    ],
    ids=reprlib.repr,
)
def test_a_workspace_is_named_by_its_defaults(workspace: object, name: str | None) -> None:
    observation = decoded(spec={"workspace": workspace})
    assert (observation.run.workspace, observation.invalid) == (name, None)


@pytest.mark.parametrize(
    ("workspace", "path", "unreadable"),
    [
        ("ws", "spec.workspace", True),
        ([], "spec.workspace", True),
        ({}, "spec.workspace.name", True),
        ({"name": ""}, "spec.workspace.name", True),
        ({"name": 5}, "spec.workspace.name", True),
        ({"name": "Upper"}, "spec.workspace.name", True),
        ({"name": "a..b"}, "spec.workspace.name", True),
        ({"name": "ws\n"}, "spec.workspace.name", True),
        ({"name": "n" * 254}, "spec.workspace.name", True),
        ({"name": "ws", "kind": "PersistentVolumeClaim"}, "spec.workspace.kind", False),
        ({"name": "ws", "kind": ["PersistentWorkspace"]}, "spec.workspace.kind", True),
        ({"name": "ws", "apiGroup": "kruntimes.io"}, "spec.workspace.apiGroup", False),
        ({"name": "ws", "apiGroup": 1}, "spec.workspace.apiGroup", True),
    ],
    ids=reprlib.repr,
)
def test_another_kind_or_group_or_no_name_fails_the_run(
    workspace: object, path: str, unreadable: bool
) -> None:
    observation = decoded(spec={"workspace": workspace})
    assert observation.run.workspace is None
    assert observation.invalid is not None
    assert (observation.invalid.reason, observation.invalid.path) == ("InvalidWorkspace", path)
    assert observation.invalid.unreadable is unreadable


@pytest.mark.parametrize(
    "spec",
    [
        {"resources": {"requests": {"r" * 10_000: "x" * 10_000}}},
        {"resources": {"requests": {"\ud800\n" * 1_000: "\ud800" * 1_000}}},
        {"resources": {"requests": {"r": 10**4_000}}},
        {"runtime": ["x" * 10_000]},
        {"workspace": {"name": "W" * 10_000}},
        {"workspace": {"name": "w", "kind": "k" * 10_000}},
        {
            "affinity": {
                "runAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        term_object(expressions=[{"key": "k" * 60, "operator": "o" * 10_000}])
                    ]
                }
            }
        },
    ],
    ids=reprlib.repr,
)
def test_messages_quote_no_more_than_512_characters_and_can_be_sent(spec: dict[str, Any]) -> None:
    invalid = decoded(spec=spec).invalid
    assert invalid is not None
    assert len(invalid.message) < 800
    assert len(invalid.message.encode("utf-8").splitlines()) == 1
