"""What may change of a Pod, and by whom."""

from __future__ import annotations

from embedded.api import Site, causes, refusal
from embedded.bodies import pod_body
from kruntimes_core.lab.apiserver.kinds.strategy import STRATEGIC
from kruntimes_core.lab.apiserver.objects import version_of
from kruntimes_core.lab.apiserver.requests import Patch


def test_a_pods_conditions_carry_both_times(pods: Site) -> None:
    pods.create(pod_body())
    ready = {"type": "Ready", "status": "True", "lastProbeTime": "2026-01-02T05:04:05.678+02:00"}
    status = pods.merge("py-0", {"status": {"phase": "Running", "conditions": [ready]}}, "status")["status"]
    assert status == {
        "phase": "Running",
        "qosClass": "BestEffort",
        "conditions": [{**ready, "lastProbeTime": "2026-01-02T03:04:05Z", "lastTransitionTime": None}],
    }


def test_a_strategic_patch_merges_the_conditions_of_a_pod(pods: Site) -> None:
    pods.create(pod_body())
    for kind, status in (("Ready", "False"), ("kruntimes.io/RuntimedReady", "True"), ("Ready", "True")):
        patch = {"status": {"conditions": [{"type": kind, "status": status}]}}
        pods.patch("py-0", STRATEGIC, patch, "status")
    conditions = pods.get("py-0")["status"]["conditions"]
    assert sorted((one["type"], one["status"]) for one in conditions) == [
        ("Ready", "True"),
        ("kruntimes.io/RuntimedReady", "True"),
    ]


def test_a_pods_status_may_carry_labels_and_annotations_but_no_spec_and_owners(pods: Site) -> None:
    before = pods.create(pod_body())
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}
    patch = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}, "ownerReferences": [owner]},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running"},
    }
    after = pods.merge("py-0", patch, "status")
    assert after["metadata"]["labels"] == {"runtime": "py", "a": "b"}
    assert after["metadata"]["annotations"] == {"c": "d"}
    assert "ownerReferences" not in after["metadata"]
    assert after["spec"] == before["spec"]
    assert after["metadata"]["generation"] == 1


def test_of_a_running_pod_the_image_may_change_and_little_else(pods: Site) -> None:
    pods.create(pod_body())
    image = {"spec": {"containers": [{"name": "runtime", "image": "runtime:2"}]}}
    assert pods.patch("py-0", STRATEGIC, image)["metadata"]["generation"] == 2
    error = refusal(lambda: pods.merge("py-0", {"spec": {"restartPolicy": "Never"}}))
    assert causes(error) == {("spec", "FieldValueForbidden")}
    assert "only spec.containers[*].image" in error.message


def test_a_pod_may_be_replaced_without_a_version(pods: Site) -> None:
    pods.create(pod_body())
    current = pods.get("py-0")
    body = {**current, "metadata": {"name": "py-0", "labels": {"runtime": "js"}}}
    assert pods.update(body)["metadata"]["labels"] == {"runtime": "js"}


def test_what_is_given_out_is_shared_and_written_once(pods: Site) -> None:
    pods.create(pod_body())
    assert pods.get("py-0") is pods.get("py-0")
    assert version_of(pods.get("py-0")) == str(pods.api.store.version)
    patch = Patch(STRATEGIC, {"metadata": {"labels": {"runtime": "py"}}})
    assert pods.api.patch(pods.resource, "team-a", "py-0", patch).object is pods.get("py-0")
