"""Answers in other forms: rows for people, and metadata alone."""

from __future__ import annotations

from contract import Site, contract
from contract.site import METADATA, METADATA_LIST, TABLE
from embedded.bodies import event_body, lease_body, pod_body, run_body, workspace_body
from realcluster.client import NAMESPACES, PODS, RUNS, RUNTIMES, WORKSPACES, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")
EVENTS = Resource("events.k8s.io", "v1", "events")
OLD_EVENTS = Resource("", "v1", "events")


def columns(table: dict[str, list[dict[str, str]]]) -> list[str]:
    return [column["name"] for column in table["columnDefinitions"]]


@contract
def test_a_table_of_runs(site: Site) -> None:
    assert site.send("GET", site.path(RUNS), accept=TABLE).body["rows"] == []
    site.made(RUNS, run_body("a", labels={"cohort": "x"}))
    site.made(RUNS, run_body("b"))
    site.status_of("b", {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "u"})
    table = site.send("GET", site.path(RUNS), accept=TABLE).body
    assert columns(table) == ["Name", "Phase", "Assigned Pod", "Runtime", "Age", "Message"]
    assert table["rows"][1]["cells"][:4] == ["b", "Scheduled", "py-0", "py"]
    one = site.send("GET", site.path(RUNS, "b"), accept=TABLE).body
    assert len(one["rows"]) == 1


@contract
def test_tables_in_pages_and_with_whole_objects(site: Site) -> None:
    for name in ("a", "b", "c"):
        site.made(RUNS, run_body(name))
    page = site.send("GET", site.path(RUNS), accept=TABLE, limit=2).body
    assert page["metadata"]["remainingItemCount"] == 1
    for include in ("None", "Object", "Metadata"):
        site.send("GET", site.path(RUNS), accept=TABLE, includeObject=include, limit=1)
    site.send("GET", site.path(RUNS), accept=TABLE, includeObject="Half")


@contract
def test_tables_of_other_custom_resources(site: Site) -> None:
    site.made(WORKSPACES, workspace_body())
    template = {"metadata": {}, "spec": {"containers": [{"name": "runtime", "image": "a:1"}]}}
    runtime = {
        "apiVersion": "kruntimes.io/v1alpha1",
        "kind": "Runtime",
        "metadata": {"name": "py"},
        "spec": {"replicas": 2, "template": template},
    }
    site.made(RUNTIMES, runtime)
    for resource in (WORKSPACES, RUNTIMES):
        assert len(site.send("GET", site.path(resource), accept=TABLE).body["rows"]) == 1


@contract
def test_a_table_of_pods(site: Site) -> None:
    site.made(PODS, pod_body("a"))
    site.made(PODS, pod_body("b", spec={"nodeName": "node-1"}))
    ready = {"type": "Ready", "status": "True"}
    running = {
        "name": "runtime",
        "ready": True,
        "restartCount": 2,
        "state": {"running": {"startedAt": "2001-02-03T04:05:06Z"}},
        "image": "a",
        "imageID": "a",
    }
    status = {
        "phase": "Running",
        "conditions": [ready],
        "containerStatuses": [running],
        "podIP": "10.1.2.3",
        "podIPs": [{"ip": "10.1.2.3"}],
    }
    assert site.patch(PODS, "b", {"status": status}, "status").status == 200
    site.made(PODS, pod_body("c", spec={"nodeName": "node-1"}))
    waiting = {**running, "ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    site.patch(PODS, "c", {"status": {"phase": "Running", "containerStatuses": [waiting]}}, "status")
    site.made(PODS, pod_body("d", spec={"nodeName": "node-1"}))
    site.delete(PODS, "d")
    site.made(PODS, pod_body("e"))
    site.patch(PODS, "e", {"status": {"phase": "Failed", "reason": "Evicted"}}, "status")
    table = site.send("GET", site.path(PODS), accept=TABLE).body
    assert columns(table)[:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert [row["cells"][2] for row in table["rows"]] == [
        "Pending",
        "Running",
        "CrashLoopBackOff",
        "Terminating",
        "Evicted",
    ]


@contract
def test_tables_of_built_in_kinds(site: Site) -> None:
    site.made(LEASES, lease_body(holderIdentity="a"))
    regarding = {
        "kind": "Run",
        "namespace": site.namespace,
        "name": "r1",
        "apiVersion": "kruntimes.io/v1alpha1",
    }
    site.made(EVENTS, event_body("e1", regarding=regarding))
    for resource in (LEASES, EVENTS, OLD_EVENTS):
        assert len(site.send("GET", site.path(resource), accept=TABLE).body["rows"]) == 1
    name = f"metadata.name={site.namespace}"
    assert len(site.send("GET", NAMESPACES.path(None), accept=TABLE, fieldSelector=name).body["rows"]) == 1


@contract
def test_metadata_alone(site: Site) -> None:
    site.made(RUNS, run_body(labels={"a": "b"}))
    site.made(PODS, pod_body())
    for resource, name in ((RUNS, "r1"), (PODS, "py-0")):
        one = site.send("GET", site.path(resource, name), accept=METADATA).body
        assert one["kind"] == "PartialObjectMetadata"
        assert "spec" not in one
        listed = site.send("GET", site.path(resource), accept=METADATA_LIST, limit=5).body
        assert listed["kind"] == "PartialObjectMetadataList"
    # One is not the other.
    site.send("GET", site.path(RUNS), accept=METADATA)
    site.send("GET", site.path(RUNS, "r1"), accept=METADATA_LIST)


@contract
def test_answers_to_writes_in_other_forms(site: Site) -> None:
    for accept, name in ((TABLE, "a"), (METADATA, "b")):
        made = site.send("POST", site.path(RUNS), run_body(name), accept=accept)
        assert made.status == 201
        merge = "application/merge-patch+json"
        patch = {"metadata": {"labels": {"a": "b"}}}
        assert (
            site.send("PATCH", site.path(RUNS, name), patch, content_type=merge, accept=accept).status == 200
        )
        site.send("DELETE", site.path(RUNS, name), accept=accept)
        # An error is a Status in every form.
        assert site.send("GET", site.path(RUNS, "none"), accept=accept).body["kind"] == "Status"
        site.made(PODS, pod_body(name))
        site.send("DELETE", site.path(PODS, name), accept=accept)


@contract
def test_forms_that_fall_back(site: Site) -> None:
    site.made(RUNS, run_body())
    for accept in (
        f"{TABLE},application/json",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
    ):
        assert site.send("GET", site.path(RUNS), accept=accept).status == 200
