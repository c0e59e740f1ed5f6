"""Objects as they are stored: filled in, pruned, numbered; and what a new version takes over."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import pod_body, run_body, workspace_body
from realcluster.client import PODS, RUNS, WORKSPACES


@contract
def test_a_new_run_is_filled_in(site: Site) -> None:
    run = site.made(RUNS, run_body(labels={"cohort": "a"}, annotations={"note": "x"}))
    assert run["metadata"]["generation"] == 1
    assert run["metadata"]["namespace"] == site.namespace
    assert "status" not in run
    assert site.get(RUNS, "r1").body == run


@contract
def test_what_only_the_server_sets_is_taken_from_a_new_run(site: Site) -> None:
    sent = run_body(
        uid="00000000-0000-4000-8000-000000000000",
        generation=7,
        creationTimestamp="2001-02-03T04:05:06Z",
        deletionTimestamp="2001-02-03T04:05:06Z",
        deletionGracePeriodSeconds=5,
        selfLink="/x",
    )
    run = site.made(RUNS, {**sent, "status": {"phase": "Succeeded"}})
    assert run["metadata"]["generation"] == 1
    assert "deletionTimestamp" not in run["metadata"]
    assert "status" not in run


@contract
def test_a_new_workspace_gets_its_defaults(site: Site) -> None:
    workspace = site.made(WORKSPACES, workspace_body())
    assert workspace["spec"]["cleanupPolicy"] == "DeleteAfterTTL"
    assert workspace["spec"]["mode"] == "RuntimePodLocal"


@contract
def test_defaults_go_into_what_is_there(site: Site) -> None:
    spec = {"workspace": {"name": "w1"}, "retryPolicy": {}}
    run = site.made(RUNS, run_body(spec=spec))
    assert run["spec"]["workspace"] == {
        "name": "w1",
        "kind": "PersistentWorkspace",
        "apiGroup": "kruntimes.io/v1alpha1",
    }
    assert run["spec"]["retryPolicy"] == {}


@contract
def test_unknown_fields_and_nulls_are_dropped(site: Site) -> None:
    spec = {
        "surprise": {"a": 1},
        "mode": {"task": {"entrypoint": "m.py"}, "also": True},
        "retryPolicy": {"maxAttempts": None},
        "env": [{"name": "A", "value": "1", "odd": 2}],
    }
    run = site.made(RUNS, {**run_body(spec=spec), "extra": 1})
    assert run["spec"]["surprise"] == {"a": 1}
    assert run["spec"]["mode"] == {"task": {"entrypoint": "m.py"}}
    assert "extra" not in run


@contract
def test_a_new_pod_is_filled_in(site: Site) -> None:
    pod = site.made(PODS, pod_body())
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert pod["spec"]["restartPolicy"] == "Always"
    assert site.get(PODS, "py-0").body == pod


@contract
def test_pods_of_many_shapes(site: Site) -> None:
    container = {
        "name": "runtime",
        "image": "runtime",
        "command": ["sleep"],
        "env": [
            {"name": "A", "value": "b"},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "ports": [{"containerPort": 8080}],
        "resources": {"requests": {"cpu": "0.5", "memory": "64Mi"}},
        "readinessProbe": {"httpGet": {"port": 8080}},
        "volumeMounts": [{"name": "work", "mountPath": "/work"}],
    }
    spec = {
        "containers": [container, {"name": "runtimed", "image": "r/runtimed:latest"}],
        "volumes": [{"name": "work", "emptyDir": {}}],
        "nodeName": "node-1",
        "terminationGracePeriodSeconds": 5,
        "restartPolicy": "Never",
    }
    site.made(PODS, pod_body("shaped", spec=spec))
    equal = {"cpu": "1", "memory": "1Gi"}
    guaranteed = {"name": "runtime", "image": "a@sha256:" + "0" * 64, "resources": {"limits": equal}}
    site.made(PODS, pod_body("guaranteed", spec={"containers": [guaranteed]}))


@contract
def test_generation_counts_changes_of_the_spec_only(site: Site) -> None:
    site.made(RUNS, run_body())
    labelled = site.patch(RUNS, "r1", {"metadata": {"labels": {"a": "b"}}})
    assert labelled.body["metadata"]["generation"] == 1
    cancelled = site.patch(RUNS, "r1", {"spec": {"cancelRequested": True}})
    assert cancelled.body["metadata"]["generation"] == 2
    assert site.status_of("r1", {"phase": "Pending"}).body["metadata"]["generation"] == 2


@contract
def test_a_put_that_changes_nothing_makes_no_version(site: Site) -> None:
    run = site.made(RUNS, run_body())
    assert site.replace(RUNS, run).body == run
    pod = site.made(PODS, pod_body())
    assert site.replace(PODS, pod).body == pod


@contract
def test_a_put_keeps_what_the_server_owns(site: Site) -> None:
    run = site.made(RUNS, run_body(labels={"a": "b"}))
    run["metadata"] |= {
        "creationTimestamp": "2001-02-03T04:05:06Z",
        "generation": 9,
        "labels": {"c": "d"},
    }
    changed = site.replace(RUNS, {**run, "status": {"phase": "Failed"}})
    assert changed.status == 200
    assert changed.body["metadata"]["labels"] == {"c": "d"}
    assert changed.body["metadata"]["generation"] == 1
    assert "status" not in changed.body
    ended = {**changed.body["metadata"], "deletionTimestamp": "2001-02-03T04:05:06Z"}
    assert site.replace(RUNS, {**changed.body, "metadata": ended}).status == 422


@contract
def test_an_update_may_leave_out_the_uid_but_not_say_another(site: Site) -> None:
    run = site.made(RUNS, run_body())
    other = {**run["metadata"], "uid": "00000000-0000-4000-8000-000000000000"}
    assert site.replace(RUNS, {**run, "metadata": other}).status == 409
    bare = {key: value for key, value in run["metadata"].items() if key not in ("uid", "creationTimestamp")}
    assert site.replace(RUNS, {**run, "metadata": {**bare, "labels": {"a": "b"}}}).status == 200
    assert site.patch(RUNS, "r1", {"metadata": {"uid": other["uid"]}}).status == 422


@contract
def test_pods_change_in_few_places(site: Site) -> None:
    pod = site.made(PODS, pod_body())
    image = {"spec": {"containers": [{"name": "runtime", "image": "runtime:2"}]}}
    assert site.patch(PODS, "py-0", image, kind="strategic").body["metadata"]["generation"] == 2
    refused = site.patch(PODS, "py-0", {"spec": {"restartPolicy": "Never"}})
    assert (refused.status, refused.reason) == (422, "Invalid")
    unconditional = {key: value for key, value in pod["metadata"].items() if key != "resourceVersion"}
    site.replace(PODS, {**pod, "metadata": {**unconditional, "labels": {"runtime": "other"}}})
