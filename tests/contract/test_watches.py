"""Watches: what they begin with, what they tell, and how they end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from contract import Site, contract
from contract.site import METADATA, TABLE
from embedded.bodies import event_body, lease_body, pod_body, run_body
from realcluster.client import JSON, PODS, RUNS, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")
EVENTS = Resource("events.k8s.io", "v1", "events")
OLD_EVENTS = Resource("", "v1", "events")


@contract
def test_a_watch_goes_on_from_a_version(site: Site) -> None:
    version = site.made(RUNS, run_body("before"))["metadata"]["resourceVersion"]
    site.made(RUNS, run_body())
    site.status_of("r1", {"phase": "Running"})
    site.patch(RUNS, "r1", {"metadata": {"labels": {"a": "b"}}})
    site.gone(RUNS, "r1")
    told = site.watched(RUNS, 4, resourceVersion=version)
    assert told == [("ADDED", "r1"), ("MODIFIED", "r1"), ("MODIFIED", "r1"), ("DELETED", "r1")]


@contract
def test_a_watch_tells_what_happens(site: Site) -> None:
    with site.watching(RUNS, resourceVersion=site.list(RUNS).version) as watch:
        site.made(RUNS, run_body())
        assert watch.take(1) == [("ADDED", "r1")]
        site.patch(RUNS, "r1", {"spec": {"cancelRequested": True}})
        assert watch.take(1) == [("MODIFIED", "r1")]
        site.patch(RUNS, "r1", {"spec": {"cancelRequested": True}})
        site.gone(RUNS, "r1")
        assert watch.take(1) == [("DELETED", "r1")]


@contract
def test_a_watch_without_a_version_begins_with_what_is_there(site: Site) -> None:
    site.made(RUNS, run_body("a"))
    site.made(RUNS, run_body("b"))
    assert sorted(site.watched(RUNS, 2)) == [("ADDED", "a"), ("ADDED", "b")]
    assert sorted(site.watched(RUNS, 2, resourceVersion="0")) == [("ADDED", "a"), ("ADDED", "b")]


@contract
def test_objects_come_into_a_selection_and_leave_it(site: Site) -> None:
    version = site.made(RUNS, run_body())["metadata"]["resourceVersion"]
    for value in ("in", "in", "out", "in"):
        site.patch(RUNS, "r1", {"metadata": {"labels": {"is": value, "was": value}}})
        site.patch(RUNS, "r1", {"metadata": {"annotations": {"seen": value}}})
    site.gone(RUNS, "r1")
    told = site.watched(RUNS, 6, resourceVersion=version, labelSelector="is=in")
    kinds = [kind for kind, _ in told]
    assert kinds == ["ADDED", "MODIFIED", "DELETED", "ADDED", "MODIFIED", "DELETED"]


@contract
def test_a_selection_by_fields_is_left_too(site: Site) -> None:
    version = site.made(PODS, pod_body())["metadata"]["resourceVersion"]
    for phase in ("Running", "Failed", "Running"):
        site.patch(PODS, "py-0", {"status": {"phase": phase}}, "status")
    told = site.watched(PODS, 3, resourceVersion=version, fieldSelector="status.phase=Running")
    assert [kind for kind, _ in told] == ["ADDED", "DELETED", "ADDED"]
    other = run_body("other")
    site.made(RUNS, other)
    site.made(RUNS, run_body())
    assert site.watched(RUNS, 1, resourceVersion=version, fieldSelector="metadata.name=r1") == [
        ("ADDED", "r1")
    ]


@contract
def test_a_deletion_in_two_steps_is_told_in_two(site: Site) -> None:
    version = site.made(RUNS, run_body(finalizers=["example.com/a"]))["metadata"]["resourceVersion"]
    site.delete(RUNS, "r1")
    site.patch(RUNS, "r1", {"metadata": {"finalizers": None}})
    told = site.watched(RUNS, 2, resourceVersion=version)
    assert told == [("MODIFIED", "r1"), ("DELETED", "r1")]


@contract
def test_deletions_of_pods_are_told(site: Site) -> None:
    version = site.made(PODS, pod_body("a"))["metadata"]["resourceVersion"]
    site.delete(PODS, "a")
    site.made(PODS, pod_body("b", spec={"nodeName": "node-1"}))
    site.delete(PODS, "b")
    site.gone(PODS, "b")
    site.made(PODS, pod_body("c"))
    with site.watching(PODS, resourceVersion=version) as watch:
        while watch.next()["object"]["metadata"]["name"] != "c":
            pass


@contract
def test_events_and_leases_are_watched(site: Site) -> None:
    regarding = {"kind": "Run", "namespace": site.namespace, "name": "r1"}
    before = site.made(LEASES, lease_body("l0"))["metadata"]["resourceVersion"]
    lease = site.made(LEASES, lease_body())
    site.replace(LEASES, {**lease, "spec": {"holderIdentity": "a"}})
    site.gone(LEASES, "l1")
    site.made(EVENTS, event_body("e1", regarding=regarding))
    told = site.watched(LEASES, 3, resourceVersion=before)
    assert told == [("ADDED", "l1"), ("MODIFIED", "l1"), ("DELETED", "l1")]
    for resource in (EVENTS, OLD_EVENTS):
        assert site.watched(resource, 1, resourceVersion=before) == [("ADDED", "e1")]


@contract
def test_a_watch_ends_in_time(site: Site) -> None:
    version = site.made(RUNS, run_body())["metadata"]["resourceVersion"]
    with site.watching(RUNS, resourceVersion=version, timeoutSeconds=1) as watch:
        assert watch.rest() == []


@contract
def test_bookmarks_in_all_forms(site: Site) -> None:
    run, pod = site.made(RUNS, run_body("r0")), site.made(PODS, pod_body("p0"))
    query = {"resourceVersion": pod["metadata"]["resourceVersion"], "allowWatchBookmarks": "true"}
    forms = [(RUNS, JSON), (RUNS, METADATA), (RUNS, TABLE), (PODS, JSON), (PODS, METADATA), (PODS, TABLE)]
    with ExitStack() as open_watches:
        watches = [
            open_watches.enter_context(site.watching(resource, accept, timeoutSeconds=3, **query))
            for resource, accept in forms
        ]
        # The real server tells the first bookmark after something happened.
        site.patch(RUNS, run["metadata"]["name"], {"spec": {"cancelRequested": True}})
        site.made(PODS, pod_body())
        for watch in watches:
            assert [kind for kind, _ in watch.take(2)][1] == "BOOKMARK"


@contract
def test_a_list_by_watch(site: Site) -> None:
    site.made(RUNS, run_body("a"))
    site.made(RUNS, run_body("b"))
    query: dict[str, Any] = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "resourceVersion": site.list(RUNS).version,
    }
    with site.watching(RUNS, **query) as watch:
        assert sorted(watch.take(2)) == [("ADDED", "a"), ("ADDED", "b")]
        mark = watch.next()
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


@contract
def test_a_version_that_is_too_old(site: Site) -> None:
    site.made(RUNS, run_body())
    with site.watching(RUNS, resourceVersion="1", timeoutSeconds=1) as watch:
        watch.rest()


@contract
def test_watches_in_other_forms(site: Site) -> None:
    version = site.made(RUNS, run_body("r0"))["metadata"]["resourceVersion"]
    site.made(RUNS, run_body())
    site.gone(RUNS, "r1")
    for accept in (TABLE, METADATA):
        with site.watching(RUNS, accept, resourceVersion=version) as watch:
            assert [watch.next()["type"], watch.next()["type"]] == ["ADDED", "DELETED"]


@contract
def test_watches_that_are_refused(site: Site) -> None:
    for status, query in (
        (500, {"resourceVersion": "now"}),
        (400, {"labelSelector": "a in b"}),
        (400, {"fieldSelector": "spec.runtime=py"}),
        (422, {"continue": "x"}),
        (422, {"resourceVersionMatch": "Exact"}),
        (422, {"resourceVersionMatch": "NotOlderThan"}),
        (422, {"sendInitialEvents": "true"}),
        (422, {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"}),
        (400, {"timeoutSeconds": "long"}),
    ):
        assert site.list(RUNS, watch="true", **query).status == status, query


@contract
def test_a_watch_of_one_object_by_its_old_path(site: Site) -> None:
    site.made(RUNS, run_body("other"))
    site.made(RUNS, run_body())
    path = RUNS.path(None).replace("/runs", f"/watch/namespaces/{site.namespace}/runs/r1")
    site.send("GET", path, timeoutSeconds=1)
    by_name = site.send("GET", site.path(RUNS, "r1"), watch="true", timeoutSeconds=1)
    assert by_name.status == 200
