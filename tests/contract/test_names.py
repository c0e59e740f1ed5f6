"""Names and other metadata: made by the server, or judged by it."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import lease_body, pod_body, run_body
from realcluster.client import NAMESPACES, PODS, RUNS

BAD_NAMES = ("Upper", "under_score", "-first", "last-", "a..b", "x" * 254, "a/b", "a%b", "..")
BAD_KEYS = ("", "a/b/c", "-a", "Bad_/name", "x" * 64, "a/" + "x" * 64, "ä")
BAD_VALUES = ("-a", "a b", "x" * 64, "a/b")


@contract
def test_names_are_made_from_a_base(site: Site) -> None:
    run = site.made(RUNS, run_body(name=None, generateName="gen-"))
    assert run["metadata"]["name"].startswith("gen-")
    assert len(run["metadata"]["name"]) == len("gen-") + 5
    assert run["metadata"]["generateName"] == "gen-"
    pod = site.made(PODS, pod_body(name=None, generateName="gen-"))
    assert pod["metadata"]["generateName"] == "gen-"


@contract
def test_a_name_wins_over_a_base(site: Site) -> None:
    assert site.made(RUNS, run_body("own", generateName="gen-"))["metadata"]["name"] == "own"


@contract
def test_bad_names_are_refused(site: Site) -> None:
    for name in BAD_NAMES:
        refused = site.create(RUNS, run_body(name))
        assert (refused.status, refused.reason, refused.fields) == (422, "Invalid", ["metadata.name"])
        assert site.create(PODS, pod_body(name)).status == 422


@contract
def test_an_object_needs_a_name(site: Site) -> None:
    for resource, body in ((RUNS, run_body(name=None)), (PODS, pod_body(name=None))):
        refused = site.create(resource, body)
        assert (refused.status, refused.fields[0]) == (422, "metadata.name")
        assert site.create(resource, {**body, "metadata": {"name": ""}}).status == 422


@contract
def test_bad_bases_of_names_are_refused(site: Site) -> None:
    assert site.create(RUNS, run_body(name=None, generateName="Gen_")).status == 422
    assert site.create(PODS, pod_body(name=None, generateName="Gen_")).status == 422


@contract
def test_names_of_namespaces_are_labels(site: Site) -> None:
    for name in ("a.b", "x" * 64, "Upper"):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        refused = site.send("POST", NAMESPACES.path(None), body)
        assert (refused.status, refused.fields[0]) == (422, "metadata.name")


@contract
def test_bad_labels_are_refused(site: Site) -> None:
    for key in BAD_KEYS:
        refused = site.create(RUNS, run_body(labels={key: "x"}))
        assert set(refused.fields) == {"metadata.labels"}
    for value in BAD_VALUES:
        assert site.create(RUNS, run_body(labels={"a": value})).fields == ["metadata.labels"]
        assert site.create(PODS, pod_body(labels={"a": value})).fields == ["metadata.labels"]


@contract
def test_bad_annotations_are_refused(site: Site) -> None:
    for key in BAD_KEYS:
        assert set(site.create(RUNS, run_body(annotations={key: "x"})).fields) == {"metadata.annotations"}
    assert site.create(RUNS, run_body(annotations={"a": "x" * 262_145})).status == 422
    assert site.create(RUNS, run_body(annotations={"Upper.Case/Is_Fine": "x y"})).status == 201


@contract
def test_bad_finalizers_and_owners_are_refused(site: Site) -> None:
    assert site.create(RUNS, run_body("r0", finalizers=["plain"])).status == 201
    assert site.create(RUNS, run_body(finalizers=["a b/c"])).status == 422
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "00000000-0000-4000-8000-000000000000"}
    assert site.create(RUNS, run_body(ownerReferences=[owner])).status == 201
    for field in owner:
        rest = {key: value for key, value in owner.items() if key != field}
        refused = site.create(RUNS, run_body("r2", ownerReferences=[rest]))
        assert refused.fields[0] == f"metadata.ownerReferences[0].{field}"


@contract
def test_metadata_of_wrong_types_is_refused(site: Site) -> None:
    for wrong in ({"labels": {"a": 1}}, {"labels": ["a"]}, {"finalizers": "a"}, {"annotations": {"a": True}}):
        assert site.create(RUNS, run_body(**wrong)).status == 400
        assert site.create(PODS, pod_body(**wrong)).status == 400


@contract
def test_the_namespace_of_the_path_is_the_one(site: Site) -> None:
    assert site.create(RUNS, run_body(namespace="elsewhere")).status == 400
    assert site.create(PODS, pod_body(namespace="elsewhere")).status == 400
    missing = RUNS.path("no-such-namespace")
    refused = site.send("POST", missing, run_body())
    assert (refused.status, refused.reason) == (404, "NotFound")
    leases = "/apis/coordination.k8s.io/v1/namespaces/no-such-namespace/leases"
    assert site.send("POST", leases, lease_body()).status == 404


@contract
def test_a_name_is_taken_once(site: Site) -> None:
    site.made(RUNS, run_body())
    refused = site.create(RUNS, run_body())
    assert (refused.status, refused.reason) == (409, "AlreadyExists")
    site.made(PODS, pod_body())
    assert site.create(PODS, pod_body()).reason == "AlreadyExists"
