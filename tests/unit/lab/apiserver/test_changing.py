"""Replacing and patching objects: the guard by version, who may change what, and no-ops."""

from __future__ import annotations

import pytest

from embedded.api import Site, causes, new_api, refusal
from embedded.bodies import Object, run_body
from kruntimes_core.lab.apiserver.kinds.strategy import APPLY, JSON_PATCH, MERGE, STRATEGIC
from kruntimes_core.lab.apiserver.requests import Patch, WriteOptions
from kruntimes_core.testing import condition_object


@pytest.fixture
def runs() -> Site:
    site = Site(new_api(), "runs")
    site.create(run_body())
    return site


def with_spec(obj: Object, **changes: object) -> Object:
    return {**obj, "spec": {**obj["spec"], **changes}}


def with_metadata(obj: Object, **changes: object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], **changes}}


def version(obj: Object) -> int:
    return int(obj["metadata"]["resourceVersion"])


def test_a_replacement_from_an_old_version_conflicts(runs: Site) -> None:
    before = runs.get("r1")
    runs.merge("r1", {"metadata": {"labels": {"a": "b"}}})
    error = refusal(lambda: runs.update(before))
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Operation cannot be fulfilled on runs.kruntimes.io "r1": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


def test_a_replacement_of_another_uid_conflicts(runs: Site) -> None:
    error = refusal(lambda: runs.update(with_metadata(runs.get("r1"), uid="u-other")))
    assert error.code == 409
    assert "metadata.uid is u-other" in error.message


def test_a_version_that_is_no_number_is_an_error(runs: Site) -> None:
    error = refusal(lambda: runs.update(with_metadata(runs.get("r1"), resourceVersion="abc")))
    assert (error.code, error.message) == (500, "metadata.resourceVersion must be a number, not 'abc'")


def test_the_name_must_be_that_of_the_path(runs: Site) -> None:
    body = with_metadata(runs.get("r1"), name="r2")
    error = refusal(lambda: runs.api.update(runs.resource, "team-a", "r1", body))
    assert error.code == 400
    assert error.message == "metadata.name (r2) must be the name in the path (r1)"


def test_what_changes_nothing_moves_no_version(runs: Site) -> None:
    before = runs.get("r1")
    watch = runs.watch(resource_version=before["metadata"]["resourceVersion"])
    assert runs.update(before) == before
    assert runs.merge("r1", {"spec": {"runtime": "py"}}) == before
    assert runs.get("r1") is before
    assert watch.pending() == []


def test_a_changed_spec_is_a_new_generation_and_changed_metadata_is_none(runs: Site) -> None:
    first = runs.get("r1")
    second = runs.merge("r1", {"spec": {"ttlSecondsAfterFinished": 5}})
    third = runs.merge("r1", {"metadata": {"labels": {"a": "b"}}})
    fourth = runs.merge("r1", {"status": {"phase": "Running"}}, "status")
    generations = [one["metadata"]["generation"] for one in (first, second, third, fourth)]
    assert generations == [1, 2, 2, 2]
    assert version(fourth) > version(third) > version(second) > version(first)


def test_the_object_itself_leaves_the_status_alone(runs: Site) -> None:
    runs.merge("r1", {"status": {"phase": "Running"}}, "status")
    assert runs.merge("r1", {"status": {"phase": "Failed"}})["status"] == {"phase": "Running"}
    replaced = runs.update(
        {**with_spec(runs.get("r1"), ttlSecondsAfterFinished=1), "status": {"phase": "Failed"}}
    )
    assert replaced["status"] == {"phase": "Running"}
    assert replaced["spec"]["ttlSecondsAfterFinished"] == 1


def test_the_status_leaves_everything_else_alone(runs: Site) -> None:
    before = runs.get("r1")
    patch = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["x.io/y"]},
        "spec": {"runtime": "js"},
        "status": {"phase": "Running"},
    }
    after = runs.merge("r1", patch, "status")
    assert after == {
        **with_metadata(before, resourceVersion=after["metadata"]["resourceVersion"]),
        "status": {"phase": "Running"},
    }
    replaced = runs.update({**with_spec(after, runtime="js"), "status": {"phase": "Failed"}}, "status")
    assert replaced["spec"] == before["spec"]
    assert replaced["status"] == {"phase": "Failed"}


def test_a_status_gets_its_default_phase_and_can_be_taken_away(runs: Site) -> None:
    assert runs.merge("r1", {"status": {"message": "x"}}, "status")["status"] == {
        "message": "x",
        "phase": "Pending",
    }
    assert runs.merge("r1", {"status": {"phase": None}}, "status")["status"]["phase"] == "Pending"
    assert "status" not in runs.merge("r1", {"status": None}, "status")


def test_a_merge_patch_replaces_a_list_whole(runs: Site) -> None:
    both = [condition_object("Scheduled"), condition_object("Running")]
    runs.merge("r1", {"status": {"conditions": both}}, "status")
    after = runs.merge("r1", {"status": {"conditions": both[:1]}}, "status")
    assert after["status"]["conditions"] == both[:1]


def test_a_patched_object_that_cannot_be_read_is_invalid(runs: Site) -> None:
    error = refusal(lambda: runs.merge("r1", {"metadata": {"labels": "x"}}))
    assert (error.code, causes(error)) == (422, {("patch", "FieldValueInvalid")})


def test_a_strict_patch_with_an_unknown_field_is_invalid(runs: Site) -> None:
    patch = Patch(MERGE, {"status": {"future": 1}})
    strict = WriteOptions("Strict")
    error = refusal(lambda: runs.api.patch(runs.resource, "team-a", "r1", patch, "status", strict))
    assert error.code == 422
    assert error.message.startswith(' "" is invalid: patch: Invalid value: ')
    assert error.message.endswith('unknown field "status.future"')


def test_an_unknown_field_in_a_patch_is_dropped_with_a_warning(runs: Site) -> None:
    patch = Patch(MERGE, {"status": {"future": 1}})
    answer = runs.api.patch(runs.resource, "team-a", "r1", patch, "status")
    assert answer.warnings == ('unknown field "status.future"',)
    assert answer.object["status"] == {"phase": "Pending"}


def test_a_json_patch_is_applied_in_order(runs: Site) -> None:
    runs.merge("r1", {"status": {"phase": "Running", "conditions": [condition_object("A")]}}, "status")
    operations = [
        {"op": "test", "path": "/status/phase", "value": "Running"},
        {"op": "replace", "path": "/status/phase", "value": "Succeeded"},
        {"op": "add", "path": "/status/conditions/-", "value": condition_object("B")},
    ]
    after = runs.patch("r1", JSON_PATCH, operations, "status")["status"]
    assert after["phase"] == "Succeeded"
    assert [condition["type"] for condition in after["conditions"]] == ["A", "B"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/runtime", "value": "js"},
        {"op": "remove", "path": "/spec/nothing"},
        {"op": "replace", "path": "/spec/nothing/below", "value": 1},
        {"op": "add", "path": "/nothing/below", "value": 1},
        {"op": "jump", "path": "/spec"},
    ],
)
def test_a_json_patch_that_does_not_fit_changes_nothing(runs: Site, operation: Object) -> None:
    before = runs.get("r1")
    first = {"op": "add", "path": "/spec/ttlSecondsAfterFinished", "value": 5}
    error = refusal(lambda: runs.patch("r1", JSON_PATCH, [first, operation]))
    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message.startswith("the patch cannot be applied: ")
    assert runs.get("r1") is before


@pytest.mark.parametrize(
    ("media_type", "document", "code"),
    [
        (JSON_PATCH, {"op": "add"}, 400),
        (MERGE, [1], 400),
        (MERGE, "x", 400),
        (STRATEGIC, {}, 415),
        (APPLY, {}, 415),
        ("application/json", {}, 415),
        (JSON_PATCH, [{"op": "test", "path": "/kind", "value": "Run"}] * 10_001, 413),
    ],
)
def test_a_patch_must_have_a_form_that_the_kind_takes(
    runs: Site, media_type: str, document: object, code: int
) -> None:
    assert refusal(lambda: runs.patch("r1", media_type, document)).code == code


def test_what_is_not_touched_stays_the_same_object(runs: Site) -> None:
    before = runs.get("r1")
    assert runs.merge("r1", {"status": {"phase": "Running"}}, "status")["spec"] is before["spec"]


def test_observers_are_told_of_accepted_writes_only(runs: Site) -> None:
    seen: list[tuple[str, str]] = []
    runs.api.observers.append(lambda write: seen.append((write.plural, write.subresource)))
    runs.merge("r1", {"status": {"phase": "Running"}}, "status")
    runs.merge("r1", {"status": {"phase": "Running"}}, "status")
    refusal(lambda: runs.merge("r1", {"status": {"phase": "?"}}, "status"))
    runs.delete("r1")
    assert seen == [("runs", "status"), ("runs", "")]
