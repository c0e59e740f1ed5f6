"""Deletions: at once, in two steps, conditional, and of whole collections."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import event_body, lease_body, pod_body, run_body
from realcluster.client import NAMESPACES, PODS, RUNS, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")
EVENTS = Resource("events.k8s.io", "v1", "events")
UID = "00000000-0000-4000-8000-000000000000"


@contract
def test_a_deletion_answers_with_a_status(site: Site) -> None:
    run = site.made(RUNS, run_body())
    gone = site.delete(RUNS, "r1")
    assert (gone.status, gone.body["status"]) == (200, "Success")
    assert gone.body["details"]["uid"] == run["metadata"]["uid"]
    assert site.get(RUNS, "r1").status == 404
    assert site.delete(RUNS, "r1").status == 404
    site.made(LEASES, lease_body())
    assert site.delete(LEASES, "l1").body["status"] == "Success"


@contract
def test_a_finalizer_holds_an_object(site: Site) -> None:
    site.made(RUNS, run_body(finalizers=["example.com/a", "example.com/b"]))
    marked = site.delete(RUNS, "r1")
    assert "deletionTimestamp" in marked.body["metadata"]
    assert marked.body["metadata"]["deletionGracePeriodSeconds"] == 0
    assert marked.body["metadata"]["generation"] == 2
    again = site.delete(RUNS, "r1")
    assert again.body == marked.body
    assert site.status_of("r1", {"phase": "Running"}).status == 200
    assert site.patch(RUNS, "r1", {"metadata": {"finalizers": ["example.com/c"]}}).status == 422
    assert site.patch(RUNS, "r1", {"metadata": {"deletionTimestamp": None}}).status == 200
    assert site.patch(RUNS, "r1", {"metadata": {"finalizers": ["example.com/b"]}}).status == 200
    last = site.patch(RUNS, "r1", {"metadata": {"finalizers": None}})
    assert last.status == 200
    assert site.get(RUNS, "r1").status == 404


@contract
def test_a_put_ends_what_a_finalizer_held(site: Site) -> None:
    site.made(RUNS, run_body(finalizers=["example.com/a"]))
    run = site.delete(RUNS, "r1").body
    del run["metadata"]["finalizers"]
    assert site.replace(RUNS, run).status == 200
    assert site.get(RUNS, "r1").status == 404


@contract
def test_preconditions(site: Site) -> None:
    run = site.made(RUNS, run_body())
    for wrong in ({"uid": UID}, {"resourceVersion": "1"}, {"uid": UID, "resourceVersion": "1"}):
        refused = site.delete(RUNS, "r1", {"preconditions": wrong})
        assert (refused.status, refused.reason) == (409, "Conflict")
    site.made(PODS, pod_body())
    assert site.delete(PODS, "py-0", {"preconditions": {"uid": UID}}).status == 409
    site.made(RUNS, run_body("r2", finalizers=["example.com/a"]))
    assert site.delete(RUNS, "r2", {"preconditions": {"uid": UID}}).status == 409
    right = {key: run["metadata"][key] for key in ("uid", "resourceVersion")}
    assert site.delete(RUNS, "r1", {"preconditions": right}).status == 200


@contract
def test_a_pod_without_a_node_goes_at_once(site: Site) -> None:
    site.made(PODS, pod_body())
    gone = site.delete(PODS, "py-0")
    assert gone.body["kind"] == "Pod"
    assert site.get(PODS, "py-0").status == 404


@contract
def test_a_pod_on_a_node_waits_for_its_kubelet(site: Site) -> None:
    site.made(PODS, pod_body(spec={"nodeName": "node-1"}))
    assert site.delete(PODS, "py-0").body["metadata"]["deletionGracePeriodSeconds"] == 30
    shorter = site.delete(PODS, "py-0", {"gracePeriodSeconds": 5})
    assert shorter.body["metadata"]["deletionGracePeriodSeconds"] == 5
    assert site.delete(PODS, "py-0", {"gracePeriodSeconds": 50}).status == 200
    assert site.delete(PODS, "py-0", {"gracePeriodSeconds": 0}).status == 200
    assert site.get(PODS, "py-0").status == 404


@contract
def test_a_pod_with_a_finalizer_and_no_grace(site: Site) -> None:
    site.made(PODS, pod_body(finalizers=["example.com/a"], spec={"nodeName": "node-1"}))
    held = site.delete(PODS, "py-0", {"gracePeriodSeconds": 0})
    assert held.body["metadata"]["finalizers"] == ["example.com/a"]
    site.patch(PODS, "py-0", {"metadata": {"finalizers": None}})
    assert site.get(PODS, "py-0").status == 404


@contract
def test_options_of_a_deletion_in_the_query(site: Site) -> None:
    site.made(PODS, pod_body(spec={"nodeName": "node-1"}))
    path = site.path(PODS, "py-0")
    assert site.send("DELETE", path, gracePeriodSeconds=7).body["metadata"]["deletionGracePeriodSeconds"] == 7
    site.send("DELETE", path, gracePeriodSeconds="soon")
    site.send("DELETE", path, propagationPolicy="Sometimes")
    site.send("DELETE", path, b"{")
    site.send("DELETE", path, {"gracePeriodSeconds": -1})
    site.send("DELETE", path, gracePeriodSeconds=0)
    site.get(PODS, "py-0")


@contract
def test_propagation_policies(site: Site) -> None:
    for number, policy in enumerate(("Background", "Foreground", "Orphan")):
        site.made(RUNS, run_body(f"r{number}"))
        site.delete(RUNS, f"r{number}", {"propagationPolicy": policy})
        site.get(RUNS, f"r{number}")


@contract
def test_a_collection_is_deleted(site: Site) -> None:
    for name, cohort in (("a", "1"), ("b", "2"), ("c", "1"), ("d", "3")):
        site.made(RUNS, run_body(name, labels={"cohort": cohort}))
    gone = site.send("DELETE", site.path(RUNS), labelSelector="cohort=1")
    assert gone.status == 200
    assert site.list(RUNS).names == ["b", "d"]
    site.send("DELETE", site.path(RUNS), fieldSelector="metadata.name=b")
    assert site.list(RUNS).names == ["d"]
    site.send("DELETE", site.path(RUNS), labelSelector="!!")
    site.send("DELETE", site.path(RUNS))
    site.send("DELETE", site.path(RUNS))
    assert site.list(RUNS).names == []


@contract
def test_a_collection_of_pods_is_deleted(site: Site) -> None:
    site.made(PODS, pod_body("a"))
    site.made(PODS, pod_body("b", spec={"nodeName": "node-1"}))
    site.made(PODS, pod_body("c", finalizers=["example.com/a"]))
    assert site.send("DELETE", site.path(PODS)).status == 200
    assert site.list(PODS).names == ["b", "c"]


@contract
def test_a_namespace_begins_to_end(site: Site) -> None:
    path = NAMESPACES.path(None, site.namespace)
    site.made(RUNS, run_body())
    ending = site.send("DELETE", path)
    assert ending.body["status"]["phase"] == "Terminating"
    refused = site.create(RUNS, run_body("r2"))
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert site.patch(RUNS, "r1", {"metadata": {"labels": {"a": "b"}}}).status == 200
    site.send("DELETE", path)
    site.send("GET", path)
    assert site.send("DELETE", NAMESPACES.path(None, "default")).status == 403


@contract
def test_a_namespace_that_ends_takes_nothing_new(site: Site) -> None:
    site.made(LEASES, lease_body("old"))
    site.send("DELETE", NAMESPACES.path(None, site.namespace))
    for resource, body in (
        (RUNS, run_body()),
        (PODS, pod_body()),
        (LEASES, lease_body()),
        (EVENTS, event_body(regarding={"kind": "Run", "namespace": site.namespace, "name": "r1"})),
        (RUNS, {**run_body(), "metadata": {"generateName": "r-"}}),
    ):
        refused = site.create(resource, body)
        assert (refused.status, refused.reason) == (403, "Forbidden")
        cause = refused.body["details"]["causes"][0]
        assert (cause["reason"], cause["field"]) == ("NamespaceTerminating", "metadata.namespace")
    assert site.replace(LEASES, lease_body("new")).status == 403
    assert site.patch(LEASES, "old", {"spec": {"holderIdentity": "b"}}).status == 200
    assert site.delete(LEASES, "old").status == 200


@contract
def test_a_namespace_is_held_by_its_own_finalizers(site: Site) -> None:
    path, merge = NAMESPACES.path(None, site.namespace), "application/merge-patch+json"
    held = {"metadata": {"finalizers": ["example.com/a"]}}
    assert site.send("PATCH", path, held, content_type=merge).status == 200
    site.send("DELETE", path, {"propagationPolicy": "Foreground"})
    for change in ({"labels": {"a": "b"}}, {"finalizers": None}):
        assert site.send("PATCH", path, {"metadata": change}, content_type=merge).status == 200
        assert site.send("GET", path).body["status"]["phase"] == "Terminating"
    refused = site.send("PATCH", path, held, content_type=merge)
    assert (refused.status, refused.fields) == (422, ["metadata.finalizers"])
    condition = {
        "type": "NamespaceContentRemaining",
        "status": "True",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    site.send("PATCH", f"{path}/status", {"status": {"conditions": [condition]}}, content_type=merge)
    assert site.send("GET", path).body["status"]["phase"] == "Terminating"


@contract
def test_a_namespace_is_finalized(site: Site) -> None:
    path = NAMESPACES.path(None, site.namespace)
    merge = "application/merge-patch+json"
    final = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": site.namespace}, "spec": {}}
    kept = {**final, "spec": {"finalizers": ["kubernetes", "example.com/b"]}}
    assert site.send("PUT", f"{path}/finalize", kept).body["spec"] == kept["spec"]
    site.send("PUT", f"{path}/finalize", {**final, "metadata": {"name": "other"}})
    for method in ("GET", "DELETE", "POST"):
        site.send(method, f"{path}/finalize", final if method == "POST" else None)
    site.send("PATCH", f"{path}/finalize", final, content_type=merge)
    site.send("PATCH", path, {"metadata": {"finalizers": ["example.com/a"]}}, content_type=merge)
    site.send("DELETE", path)
    held = {"name": site.namespace, "finalizers": ["example.com/a"]}
    assert site.send("PUT", f"{path}/finalize", {**final, "metadata": held}).body["spec"] == {}
    assert site.send("GET", path).body["status"]["phase"] == "Terminating"
    assert site.create(RUNS, run_body()).status == 403
    assert site.send("PATCH", path, {"metadata": {"finalizers": None}}, content_type=merge).status == 200
    assert site.send("GET", path).status == 404
    assert site.send("PUT", f"{path}/finalize", final).status == 404


@contract
def test_a_namespace_that_is_finalized_is_gone_with_it(site: Site) -> None:
    path = NAMESPACES.path(None, site.namespace)
    final = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": site.namespace}, "spec": {}}
    site.send("DELETE", path)
    assert site.send("PUT", f"{path}/finalize", final).status == 200
    assert site.send("GET", path).status == 404
