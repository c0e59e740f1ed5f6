"""Deleting: at once, with finalizers, with grace, under preconditions, by collection, and namespaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from embedded.api import Clock, Site, new_api, refusal, told
from embedded.bodies import Object, lease_body, namespace_body, pod_body, run_body, workspace_body
from kruntimes_core.lab.apiserver.objects import with_metadata
from kruntimes_core.lab.apiserver.requests import DeleteOptions, ListOptions


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runs(clock: Clock) -> Site:
    return Site(new_api(clock), "runs")


@pytest.fixture
def pods(runs: Site) -> Site:
    return Site(runs.api, "pods")


def test_a_run_goes_at_once_and_is_answered_with_a_status(runs: Site) -> None:
    uid = runs.create(run_body())["metadata"]["uid"]
    watch = runs.watch(resource_version=str(runs.api.store.version))
    answer = runs.delete("r1")
    assert (answer.code, answer.object["status"]) == (200, "Success")
    assert answer.object["details"] == {"name": "r1", "group": "kruntimes.io", "kind": "runs", "uid": uid}
    assert told(watch) == [("DELETED", "r1")]
    assert refusal(lambda: runs.get("r1")).code == 404
    assert refusal(lambda: runs.delete("r1")).code == 404


def test_a_deletion_is_told_with_a_version_of_its_own(runs: Site) -> None:
    created = runs.create(run_body())
    watch = runs.watch(resource_version=created["metadata"]["resourceVersion"])
    runs.delete("r1")
    (event,) = watch.pending()
    assert event.stored.object["spec"] == created["spec"]
    assert int(event.stored.object["metadata"]["resourceVersion"]) > int(
        created["metadata"]["resourceVersion"]
    )


def test_a_finalizer_holds_an_object_until_it_is_taken_away(runs: Site) -> None:
    runs.create(run_body(finalizers=["x.io/y"]))
    watch = runs.watch(resource_version=str(runs.api.store.version))
    marked = runs.delete("r1").object
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert marked["metadata"]["generation"] == 2
    assert runs.delete("r1").object == marked
    assert runs.merge("r1", {"status": {"message": "bye"}}, "status")["status"]["message"] == "bye"
    gone = runs.merge("r1", {"metadata": {"finalizers": None}})
    assert "finalizers" not in gone["metadata"]
    assert refusal(lambda: runs.get("r1")).code == 404
    assert told(watch) == [("MODIFIED", "r1"), ("MODIFIED", "r1"), ("DELETED", "r1")]


def test_no_finalizer_is_added_to_what_is_being_deleted(runs: Site) -> None:
    runs.create(run_body(finalizers=["x.io/y"]))
    runs.delete("r1")
    error = refusal(lambda: runs.merge("r1", {"metadata": {"finalizers": ["x.io/y", "x.io/z"]}}))
    assert error.code == 422
    assert "if the object is being deleted: x.io/z" in error.message


def test_a_deletion_timestamp_cannot_be_taken_back(runs: Site) -> None:
    runs.create(run_body(finalizers=["x.io/y"]))
    runs.delete("r1")
    after = runs.merge("r1", {"metadata": {"deletionTimestamp": None, "labels": {"a": "b"}}})
    assert after["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"uid": "u-other"}, "the precondition uid is u-other"),
        ({"resource_version": "1"}, "the precondition resourceVersion is 1"),
    ],
)
def test_preconditions_hold_a_deletion_back(runs: Site, options: dict[str, str], said: str) -> None:
    runs.create(run_body())
    error = refusal(lambda: runs.delete("r1", **options))
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message.startswith('Operation cannot be fulfilled on Run.kruntimes.io "r1": ' + said)
    assert runs.names() == ["r1"]


def test_a_pod_on_a_node_waits_for_its_kubelet(pods: Site, clock: Clock) -> None:
    pods.create(pod_body(spec={"nodeName": "n1"}))
    marked = pods.delete("py-0").object["metadata"]
    assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == ("2026-01-02T03:04:35Z", 30)
    clock.move(1)
    assert pods.delete("py-0", grace_period_seconds=50).object["metadata"] == marked
    sooner = pods.delete("py-0", grace_period_seconds=5).object["metadata"]
    assert (sooner["deletionTimestamp"], sooner["deletionGracePeriodSeconds"]) == ("2026-01-02T03:04:10Z", 5)
    pods.delete("py-0", grace_period_seconds=0)
    assert refusal(lambda: pods.get("py-0")).code == 404


def test_a_pod_that_has_ended_needs_no_grace(pods: Site) -> None:
    pods.create(pod_body(spec={"nodeName": "n1"}))
    pods.merge("py-0", {"status": {"phase": "Succeeded"}}, "status")
    pods.delete("py-0")
    assert pods.names() == []


def test_with_controllers_nothing_waits_for_them() -> None:
    api = new_api(controllers=True)
    runs, pods, namespaces = Site(api, "runs"), Site(api, "pods"), Site(api, "namespaces")
    runs.create(run_body())
    runs.delete("r1", propagation_policy="Foreground")
    assert runs.names() == []
    runs.create(run_body("r2"))
    pods.create(pod_body(spec={"nodeName": "n1"}))
    watch = runs.watch(resource_version=str(api.store.version))
    assert namespaces.delete("team-a").object["status"]["phase"] == "Terminating"
    assert told(watch) == [("DELETED", "r2")]
    assert pods.names() == []
    assert namespaces.names() == ["default", "kube-system"]


BODIES: dict[str, Callable[..., Object]] = {
    "runs": run_body,
    "pods": pod_body,
    "leases": lease_body,
    "persistentworkspaces": workspace_body,
}


@pytest.mark.parametrize("plural", BODIES)
def test_a_namespace_waits_for_the_finalizers_of_what_is_in_it(plural: str, clock: Clock) -> None:
    api = new_api(clock, controllers=True)
    held, runs, namespaces = Site(api, plural), Site(api, "runs"), Site(api, "namespaces")
    held.create({**BODIES[plural](), "metadata": {"name": "held", "finalizers": ["x.io/y", "x.io/z"]}})
    runs.create(run_body("free"))
    watch = held.watch(resource_version=str(api.store.version))
    assert namespaces.delete("team-a", propagation_policy="Foreground").object["status"]["phase"] == (
        "Terminating"
    )
    assert ("MODIFIED", "held") in told(watch)
    assert held.names() == ["held"]
    assert "deletionTimestamp" in held.get("held")["metadata"]
    status = namespaces.get("team-a")["status"]
    assert status["phase"] == "Terminating"
    said = {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}
    assert said == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered"),
        "NamespaceDeletionGroupVersionParsingFailure": ("False", "ParsedGroupVersions"),
        "NamespaceDeletionContentFailure": ("False", "ContentDeleted"),
        "NamespaceContentRemaining": ("True", "SomeResourcesRemain"),
        "NamespaceFinalizersRemaining": ("True", "SomeFinalizersRemain"),
    }
    assert refusal(lambda: runs.create(run_body("new"))).code == 403
    namespaces.merge("team-a", {"metadata": {"labels": {"a": "b"}}})
    assert namespaces.delete("team-a").object["status"] == status
    clock.move(1)
    held.merge("held", {"metadata": {"finalizers": ["x.io/z"]}})
    remaining = namespaces.get("team-a")["status"]["conditions"][-1]
    assert remaining["message"] == "objects with finalizers remain: 1 of x.io/z"
    assert remaining["lastTransitionTime"] == "2026-01-02T03:04:06Z"
    assert status["conditions"][0] == namespaces.get("team-a")["status"]["conditions"][0]
    held.merge("held", {"metadata": {"finalizers": None}})
    assert namespaces.names() == ["default", "kube-system"]


def test_a_namespace_waits_for_all_that_was_marked_before() -> None:
    api = new_api(controllers=True)
    runs, pods, namespaces = Site(api, "runs"), Site(api, "pods"), Site(api, "namespaces")
    for name in ("a", "b"):
        runs.create(run_body(name, finalizers=["x.io/y"]))
    runs.delete("a")
    pods.create(pod_body(finalizers=["x.io/y"], spec={"nodeName": "n1"}))
    assert pods.delete("py-0").object["metadata"]["deletionGracePeriodSeconds"] == 30
    namespaces.delete("team-a")
    assert pods.get("py-0")["metadata"]["deletionGracePeriodSeconds"] == 0
    for site, name in ((runs, "a"), (pods, "py-0"), (runs, "b")):
        assert namespaces.get("team-a")["status"]["phase"] == "Terminating"
        site.update(with_metadata(site.get(name), finalizers=None))
    assert namespaces.names() == ["default", "kube-system"]


def test_a_namespace_that_is_empty_waits_for_its_own_finalizers() -> None:
    api = new_api(controllers=True)
    namespaces, runs = Site(api, "namespaces"), Site(api, "runs")
    namespaces.merge("team-a", {"metadata": {"finalizers": ["x.io/y"]}})
    namespaces.delete("team-a")
    assert namespaces.get("team-a")["spec"]["finalizers"] == []
    namespaces.merge("team-a", {"metadata": {"labels": {"a": "b"}}})
    assert refusal(lambda: runs.create(run_body())).code == 403
    namespaces.merge("team-a", {"metadata": {"finalizers": None}})
    assert namespaces.names() == ["default", "kube-system"]


def test_what_a_namespace_waits_for_can_be_finalized() -> None:
    api = new_api(controllers=True)
    namespaces, runs = Site(api, "namespaces"), Site(api, "runs")
    runs.create(run_body(finalizers=["x.io/y"]))
    namespaces.delete("team-a")
    namespaces.update({**namespaces.get("team-a"), "spec": {}}, "finalize")
    assert namespaces.names() == ["default", "kube-system"]
    assert runs.names() == ["r1"]


def test_a_namespace_without_its_controller_stays_terminating() -> None:
    api = new_api()
    namespaces, runs = Site(api, "namespaces"), Site(api, "runs")
    marked = namespaces.delete("team-a").object
    assert marked["status"] == {"phase": "Terminating"}
    assert marked["spec"] == {"finalizers": ["kubernetes"]}
    assert "deletionGracePeriodSeconds" not in marked["metadata"]
    assert namespaces.delete("team-a").object == marked
    error = refusal(lambda: runs.create(run_body()))
    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message == 'runs.kruntimes.io "r1" is forbidden: namespace team-a is being terminated'
    assert error.details is not None
    assert error.details["causes"][0]["reason"] == "NamespaceTerminating"


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_some_namespaces_cannot_be_deleted(name: str) -> None:
    error = refusal(lambda: Site(new_api(), "namespaces").delete(name))
    assert (error.code, error.message) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


def test_a_collection_is_deleted_in_its_namespace_only(runs: Site) -> None:
    Site(runs.api, "namespaces").create(namespace_body("other"))
    runs.create(run_body("a"))
    runs.api.create(runs.resource, "other", run_body("a"))
    runs.api.delete_collection(runs.resource, "other", ListOptions())
    assert runs.names() == ["a"]


def test_what_has_no_such_verb_refuses_it(runs: Site) -> None:
    definitions = Site(runs.api, "customresourcedefinitions")
    assert refusal(lambda: definitions.delete("runs.kruntimes.io")).code == 405
    namespaces = Site(runs.api, "namespaces")
    collect = runs.api.delete_collection
    assert refusal(lambda: collect(namespaces.resource, None, ListOptions())).code == 405


def test_the_body_of_a_deletion_is_read() -> None:
    read = DeleteOptions.from_object(
        {
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Background",
            "preconditions": {"uid": "u", "resourceVersion": "5"},
        }
    )
    assert read == DeleteOptions(0, "Background", "u", "5")
    assert DeleteOptions.from_object({"orphanDependents": True}).propagation_policy == "Orphan"
    assert refusal(lambda: DeleteOptions.from_object({"propagationPolicy": "Sideways"})).code == 422
    assert refusal(lambda: DeleteOptions.from_object({"dryRun": ["All"]})).code == 400
