"""Deletions: at once, in two steps, conditional, and of whole collections."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import lease_body, pod_body, run_body
from realcluster.client import NAMESPACES, PODS, RUNS, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")
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
