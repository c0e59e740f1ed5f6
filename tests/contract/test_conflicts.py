"""Who writes from an old version is refused, in whatever form."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import lease_body, pod_body, run_body
from realcluster.client import PODS, RUNS, Object, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")


def outdated(site: Site) -> Object:
    """A Run as it was before its last change."""
    old = site.made(RUNS, run_body())
    assert site.patch(RUNS, "r1", {"metadata": {"labels": {"a": "b"}}}).status == 200
    return old


@contract
def test_a_put_from_an_old_version(site: Site) -> None:
    refused = site.replace(RUNS, outdated(site))
    assert (refused.status, refused.reason) == (409, "Conflict")
    assert refused.body["details"] == {"name": "r1", "group": "kruntimes.io", "kind": "runs"}


@contract
def test_a_put_of_the_status_from_an_old_version(site: Site) -> None:
    refused = site.replace(RUNS, {**outdated(site), "status": {"phase": "Pending"}}, "status")
    assert (refused.status, refused.reason) == (409, "Conflict")


@contract
def test_a_put_without_a_version(site: Site) -> None:
    run = outdated(site)
    del run["metadata"]["resourceVersion"]
    refused = site.replace(RUNS, run)
    assert (refused.status, refused.fields) == (422, ["metadata.resourceVersion"])
    assert site.replace(RUNS, run, "status").status == 422


@contract
def test_a_put_with_a_version_that_is_none(site: Site) -> None:
    run = outdated(site)
    run["metadata"]["resourceVersion"] = "new"
    assert site.replace(RUNS, run).status == 500
    run["metadata"]["resourceVersion"] = "0"
    assert site.replace(RUNS, run).status == 422


@contract
def test_a_merge_patch_with_an_old_version(site: Site) -> None:
    old = outdated(site)
    version = {"resourceVersion": old["metadata"]["resourceVersion"]}
    refused = site.patch(RUNS, "r1", {"metadata": {**version, "labels": {"c": "d"}}})
    assert (refused.status, refused.reason) == (409, "Conflict")
    refused = site.patch(RUNS, "r1", {"metadata": version, "status": {"phase": "Pending"}}, "status")
    assert (refused.status, refused.reason) == (409, "Conflict")
    site.made(PODS, pod_body())
    stale = {"metadata": {"resourceVersion": "1", "labels": {"c": "d"}}}
    assert site.patch(PODS, "py-0", stale, kind="strategic").status == 409


@contract
def test_a_merge_patch_with_the_standing_version(site: Site) -> None:
    run = site.made(RUNS, run_body())
    version = {"resourceVersion": run["metadata"]["resourceVersion"]}
    accepted = site.patch(RUNS, "r1", {"metadata": version, "status": {"phase": "Pending"}}, "status")
    assert accepted.status == 200
    assert (
        site.patch(RUNS, "r1", {"metadata": version, "status": {"phase": "Pending"}}, "status").status == 409
    )


@contract
def test_json_patches_that_test(site: Site) -> None:
    old = outdated(site)
    version = {"op": "test", "path": "/metadata/resourceVersion", "value": old["metadata"]["resourceVersion"]}
    label = {"op": "add", "path": "/metadata/labels/c", "value": "d"}
    refused = site.patch(RUNS, "r1", [version, label], kind="json")
    assert refused.status == 422
    same = {"op": "test", "path": "/metadata/labels/a", "value": "b"}
    assert site.patch(RUNS, "r1", [same, label], kind="json").status == 200


@contract
def test_writes_to_what_is_not_there(site: Site) -> None:
    for reply in (
        site.replace(RUNS, run_body()),
        site.replace(RUNS, run_body(resourceVersion="5")),
        site.replace(RUNS, run_body(resourceVersion="5"), "status"),
        site.patch(RUNS, "r1", {"metadata": {"labels": {}}}),
        site.patch(RUNS, "r1", {"metadata": {"uid": "00000000-0000-4000-8000-000000000000"}}),
        site.status_of("r1", {"phase": "Pending"}),
        site.replace(PODS, pod_body()),
        site.delete(RUNS, "r1"),
    ):
        assert (reply.status, reply.reason) == (404, "NotFound")


@contract
def test_a_put_of_a_lease_that_is_gone(site: Site) -> None:
    """A PUT may create a Lease, but not in the place of the one that it was read from."""
    read = site.made(LEASES, lease_body(holderIdentity="a"))
    assert site.delete(LEASES, "l1").status == 200
    refused = site.replace(LEASES, read)
    assert (refused.status, refused.reason) == (409, "Conflict")
    assert site.replace(LEASES, lease_body(holderIdentity="b")).status == 201


@contract
def test_a_lease_is_released_as_go_electors_do(site: Site) -> None:
    taken = site.made(LEASES, lease_body(holderIdentity="a", leaseDurationSeconds=15, leaseTransitions=3))
    freed = {**taken["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
    assert site.replace(LEASES, {**taken, "spec": freed}).body["spec"] == freed
    assert site.replace(LEASES, taken).status == 409
