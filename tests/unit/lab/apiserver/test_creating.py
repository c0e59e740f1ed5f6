"""Creating objects: what the server adds, what it drops, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.api import Clock, Site, causes, new_api, refusal
from embedded.bodies import run_body
from kruntimes_core.lab.apiserver.requests import WriteOptions


@pytest.fixture
def runs() -> Site:
    return Site(new_api(), "runs")


def test_the_server_adds_what_it_owns() -> None:
    clock = Clock()
    created = Site(new_api(clock), "runs").create(run_body(labels={"app": "web"}))
    metadata = created["metadata"]
    assert metadata == {
        "name": "r1",
        "namespace": "team-a",
        "labels": {"app": "web"},
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "generation": 1,
    }
    assert metadata["uid"].startswith("u-")
    assert int(metadata["resourceVersion"]) > 0


def test_versions_grow_by_one_over_all_kinds(runs: Site) -> None:
    first = int(runs.create(run_body("a"))["metadata"]["resourceVersion"])
    workspaces = Site(runs.api, "persistentworkspaces")
    body = {"apiVersion": "kruntimes.io/v1alpha1", "kind": "PersistentWorkspace", "spec": {"runtime": "py"}}
    second = int(workspaces.create({**body, "metadata": {"name": "w"}})["metadata"]["resourceVersion"])
    assert second == first + 1


def test_what_only_the_server_may_say_is_not_taken_from_the_client(runs: Site) -> None:
    created = runs.create(
        run_body(
            uid="mine",
            creationTimestamp="2000-01-01T00:00:00Z",
            generation=7,
            deletionTimestamp="2000-01-01T00:00:00Z",
            managedFields=[{"manager": "me"}],
        )
    )
    metadata = created["metadata"]
    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"] == "2026-01-02T03:04:05Z"
    assert metadata["generation"] == 1
    assert not {"deletionTimestamp", "managedFields"} & set(metadata)


def test_a_status_that_is_sent_with_it_is_dropped(runs: Site) -> None:
    assert "status" not in runs.create({**run_body(), "status": {"phase": "Running"}})


def test_defaults_are_filled_in_where_their_parent_is_there(runs: Site) -> None:
    bare = runs.create(run_body("bare"))
    assert set(bare["spec"]) == {"runtime", "mode"}
    full = runs.create(run_body("full", spec={"retryPolicy": {}, "workspace": {"name": "w"}}))
    assert full["spec"]["retryPolicy"] == {}
    assert full["spec"]["workspace"] == {
        "name": "w",
        "kind": "PersistentWorkspace",
        "apiGroup": "kruntimes.io/v1alpha1",
    }


def test_a_null_counts_as_absent(runs: Site) -> None:
    body = run_body()
    body["spec"].update(timeout=None, env=None)
    assert set(runs.create(body)["spec"]) == {"runtime", "mode"}


def test_unknown_fields_are_dropped_with_a_warning(runs: Site) -> None:
    body = {**run_body(), "more": 1}
    body["spec"]["mode"]["zone"] = {"a": 1}
    body["spec"]["future"] = {"kept": [1, None]}
    answer = runs.api.create(runs.resource, "team-a", body)
    assert answer.code == 201
    assert answer.warnings == ('unknown field "more"', 'unknown field "spec.mode.zone"')
    assert "more" not in answer.object
    assert "zone" not in answer.object["spec"]["mode"]
    assert answer.object["spec"]["future"] == {"kept": [1, None]}


def test_unknown_fields_are_refused_when_the_client_is_strict(runs: Site) -> None:
    body = run_body()
    body["spec"]["mode"]["zone"] = 1
    error = refusal(lambda: runs.api.create(runs.resource, "team-a", body, WriteOptions("Strict")))
    assert (error.code, error.reason) == (400, "BadRequest")
    assert error.message == 'the body is not a valid Run: unknown field "spec.mode.zone"'
    assert runs.names() == []


def test_a_namespace_must_be_there(runs: Site) -> None:
    error = refusal(lambda: runs.api.create(runs.resource, "nowhere", run_body()))
    assert (error.code, error.message) == (404, 'namespaces "nowhere" not found')
    assert error.details == {"name": "nowhere", "kind": "namespaces"}


def test_default_and_kube_system_are_there_from_the_start() -> None:
    api = new_api()
    names = [one["metadata"]["name"] for one in api.list(api.resources.named("namespaces"))]
    assert names == ["default", "kube-system", "team-a"]


def test_the_namespace_of_the_object_must_be_that_of_the_path(runs: Site) -> None:
    error = refusal(lambda: runs.create(run_body(namespace="other")))
    assert error.code == 400
    assert error.message == "metadata.namespace (other) must be the namespace in the path (team-a)"


def test_a_version_cannot_be_set(runs: Site) -> None:
    error = refusal(lambda: runs.create(run_body(resourceVersion="5")))
    assert error.code == 500
    assert error.message == "resourceVersion should not be set on objects to be created"


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"kind": "Job"}, 422, 'kind: Invalid value: "Job": must be Run'),
        ({"apiVersion": "v1"}, 400, "apiVersion must be kruntimes.io/v1alpha1, not v1"),
        ({"kind": ""}, 400, "kind is required"),
        ({"apiVersion": None}, 400, "apiVersion is required"),
    ],
)
def test_an_object_of_another_type_is_refused(
    runs: Site, change: dict[str, object], code: int, said: str
) -> None:
    error = refusal(lambda: runs.create({**run_body(), **change}))
    assert error.code == code
    assert said in error.message


@pytest.mark.parametrize("name", ["r", "r.1", "1", "a-b.c-d", "a" * 253])
def test_these_are_subdomains(runs: Site, name: str) -> None:
    assert runs.create(run_body(name))["metadata"]["name"] == name


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": {"a b": "x"}}, "metadata.labels"),
        ({"labels": {"a": "-x"}}, "metadata.labels"),
        ({"labels": {"a": "x" * 64}}, "metadata.labels"),
        ({"labels": {"/a": "x"}}, "metadata.labels"),
        ({"labels": {"a/": "x"}}, "metadata.labels"),
        ({"labels": {"A/b": "x"}}, "metadata.labels"),
        ({"annotations": {"a/b/c": ""}}, "metadata.annotations"),
        ({"annotations": {"a": "x" * (256 * 1024)}}, "metadata.annotations"),
        ({"finalizers": ["a b"]}, "metadata.finalizers"),
        ({"ownerReferences": [{"kind": "Pod"}]}, "metadata.ownerReferences[0].name"),
    ],
)
def test_metadata_is_judged(runs: Site, metadata: dict[str, Any], field: str) -> None:
    error = refusal(lambda: runs.create(run_body(**metadata)))
    assert (error.code, error.reason) == (422, "Invalid")
    assert field in {at for at, _ in causes(error)}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"labels": {"a": 1}}, "metadata.labels must be an object of strings, not {'a': 1}"),
        ({"labels": "x"}, "metadata.labels must be an object of strings, not 'x'"),
        ({"finalizers": {}, "uid": 3}, "metadata.uid must be a string, not 3"),
    ],
)
def test_metadata_of_a_wrong_type_cannot_be_read(runs: Site, metadata: dict[str, Any], said: str) -> None:
    error = refusal(lambda: runs.create(run_body(**metadata)))
    assert error.code == 400
    assert error.message.endswith(said)


def test_nothing_is_judged_where_validation_is_off(runs: Site) -> None:
    runs.api.validating = False
    assert runs.create(run_body(spec={"mode": None}))["spec"] == {"runtime": "py"}
