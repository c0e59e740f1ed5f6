"""The status subresource: what it takes, what it leaves, and what it judges."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import pod_body, run_body
from kruntimes_core.testing import condition_object
from realcluster.client import PODS, RUNS, RUNTIMES, WORKSPACES


@contract
def test_a_put_of_the_status_changes_nothing_else(site: Site) -> None:
    run = site.made(RUNS, run_body(labels={"a": "b"}))
    run["metadata"] |= {"labels": {"c": "d"}, "annotations": {"x": "y"}, "finalizers": ["example.com/f"]}
    spec = {**run["spec"], "runtime": "other", "cancelRequested": True}
    changed = site.replace(RUNS, {**run, "spec": spec, "status": {"phase": "Running"}}, "status")
    assert changed.status == 200
    assert changed.body["metadata"]["labels"] == {"a": "b"}
    assert changed.body["spec"]["runtime"] == "py"
    assert changed.body["status"] == {"phase": "Running"}


@contract
def test_a_status_is_patched_in_every_form(site: Site) -> None:
    site.made(RUNS, run_body())
    assert site.status_of("r1", {"phase": "Pending", "message": "waiting"}).status == 200
    site.status_of("r1", {"message": None, "conditions": [condition_object("Scheduled")]})
    operations = [
        {"op": "test", "path": "/status/phase", "value": "Pending"},
        {"op": "replace", "path": "/status/phase", "value": "Scheduled"},
        {"op": "add", "path": "/status/conditions/-", "value": condition_object("Running", "False")},
        {"op": "replace", "path": "/spec/runtime", "value": "other"},
    ]
    changed = site.patch(RUNS, "r1", operations, "status", "json")
    assert changed.body["status"]["phase"] == "Scheduled"
    assert changed.body["spec"]["runtime"] == "py"
    assert site.get(RUNS, "r1", "status").body == changed.body == site.get(RUNS, "r1").body


@contract
def test_defaults_and_pruning_of_a_status(site: Site) -> None:
    site.made(RUNS, run_body())
    assert site.status_of("r1", {"surprise": 1}).body["status"] == {"phase": "Pending"}
    assert site.status_of("r1", {}).status == 200
    run = site.get(RUNS, "r1").body
    del run["status"]
    site.replace(RUNS, run, "status")


NEEDED = [f"status.conditions[0].{name}" for name in ("status", "reason", "message", "lastTransitionTime")]


@contract
def test_statuses_that_are_refused(site: Site) -> None:
    site.made(RUNS, run_body())
    for status, fields in (
        ({"phase": "Gone"}, ["status.phase", "<nil>"]),
        ({"phase": "Pending", "message": "m" * 4097}, ["status.message", "<nil>"]),
        ({"phase": "Pending", "attempt": "one"}, ["status.attempt", "<nil>"]),
        ({"phase": "Pending", "conditions": [{"type": "A"}]}, [*NEEDED, "<nil>"]),
        (
            {"phase": "Pending", "conditions": [condition_object("A"), condition_object("A")]},
            ["status.conditions[1]"],
        ),
        ({"phase": "Pending", "startTime": "yesterday"}, ["status.startTime", "<nil>"]),
        ("Pending", ["status", "<nil>"]),
    ):
        refused = site.status_of("r1", status)  # type: ignore[arg-type]
        assert (refused.status, refused.reason) == (422, "Invalid")
        assert refused.fields == fields


@contract
def test_a_metadata_change_beside_the_status_of_a_pod(site: Site) -> None:
    pod = site.made(PODS, pod_body())
    changed = site.patch(
        PODS, "py-0", {"metadata": {"labels": {"x": "y"}}, "status": {"phase": "Running"}}, "status"
    )
    assert changed.body["metadata"]["labels"] == {"runtime": "py", "x": "y"}
    spec = {**pod["spec"], "nodeName": "elsewhere"}
    put = {**changed.body, "spec": spec, "status": {"phase": "Failed", "podIP": "10.1.2.3"}}
    assert site.replace(PODS, put, "status").body["spec"].get("nodeName") is None
    assert site.get(PODS, "py-0", "status").status == 200


@contract
def test_a_pods_heartbeat(site: Site) -> None:
    site.made(PODS, pod_body())
    beat = {"type": "kruntimes.io/RuntimedReady", "status": "True", "lastProbeTime": "2001-02-03T04:05:06Z"}
    for patch in (
        {"phase": "Running", "conditions": [beat]},
        {"conditions": [{**beat, "lastProbeTime": None}]},
    ):
        assert site.patch(PODS, "py-0", {"status": patch}, "status").status == 200


@contract
def test_subresources_that_are_not_there(site: Site) -> None:
    site.made(RUNS, run_body())
    for path in (
        site.path(RUNS, "r1", "scale"),
        site.path(RUNS, "r1", "nothing"),
        site.path(PODS, "py-0", "nothing"),
        site.path(RUNTIMES, "none", "status"),
        site.path(WORKSPACES, "none", "status"),
    ):
        assert site.send("GET", path).status == 404
    assert site.send("POST", site.path(RUNS, "r1", "status"), run_body()).status == 405
    assert site.send("DELETE", site.path(RUNS, "r1", "status")).status == 405
