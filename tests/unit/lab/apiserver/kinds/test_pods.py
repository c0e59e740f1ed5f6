"""Pods, as a real server fills them in, judges and reads them."""

from __future__ import annotations

import pytest

from embedded.api import Site, causes, refusal
from embedded.bodies import Object, pod_body
from kruntimes_core.lab.apiserver.requests import WriteOptions


def test_a_pod_begins_pending_with_everything_filled_in(pods: Site) -> None:
    created = pods.create({**pod_body(), "status": {"phase": "Running"}})
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert created["metadata"]["generation"] == 1
    spec = created["spec"]
    assert spec["containers"][0] == {
        "name": "runtime",
        "image": "runtime:1",
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    assert [toleration["key"] for toleration in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    del spec["containers"], spec["tolerations"]
    assert spec == {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("x", "Always"),
        ("x:latest", "Always"),
        ("host:5000/x", "Always"),
        ("x:1", "IfNotPresent"),
        ("x@sha256:0", "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_from_the_tag(pods: Site, image: str, policy: str) -> None:
    created = pods.create(pod_body(spec={"containers": [{"name": "a", "image": image}]}))
    assert created["spec"]["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
    ],
)
def test_the_quality_of_service_follows_from_the_resources(
    pods: Site, resources: Object, quality: str
) -> None:
    container = {"name": "a", "image": "x", "resources": resources}
    assert pods.create(pod_body(spec={"containers": [container]}))["status"]["qosClass"] == quality


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"containers": []}, ("spec.containers", "FieldValueRequired")),
        ({"containers": [{"name": "a"}]}, ("spec.containers[0].image", "FieldValueRequired")),
        ({"containers": [{"image": "x"}]}, ("spec.containers[0].name", "FieldValueRequired")),
        ({"containers": [{"name": "A", "image": "x"}]}, ("spec.containers[0].name", "FieldValueInvalid")),
        (
            {"containers": [{"name": "a", "image": "x"}] * 2},
            ("spec.containers[1].name", "FieldValueDuplicate"),
        ),
        ({"restartPolicy": "Now"}, ("spec.restartPolicy", "FieldValueNotSupported")),
    ],
)
def test_a_pod_is_judged(pods: Site, spec: Object, fault: tuple[str, str]) -> None:
    error = refusal(lambda: pods.create(pod_body(spec=spec)))
    assert (error.code, causes(error)) == (422, {fault})


def test_an_annotation_with_two_slashes_is_refused(pods: Site) -> None:
    body = pod_body(annotations={"kruntimes.io/capacity.example.com/gpu": "1"})
    assert causes(refusal(lambda: pods.create(body))) == {("metadata.annotations", "FieldValueInvalid")}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({**pod_body(), "spec": "x"}, "spec must be of type object, not 'x'"),
        (pod_body(spec={"containers": "x"}), "spec.containers must be of type array, not 'x'"),
        (pod_body(spec={"hostNetwork": 1}), "spec.hostNetwork must be of type boolean, not 1"),
    ],
)
def test_a_pod_of_wrong_types_cannot_be_read(pods: Site, body: Object, said: str) -> None:
    error = refusal(lambda: pods.create(body))
    assert (error.code, error.reason) == (400, "BadRequest")
    assert error.message == f"the body is not a valid Pod: {said}"


def test_a_time_that_is_none_cannot_be_read(pods: Site) -> None:
    pods.create(pod_body())
    bad = {"status": {"conditions": [{"type": "Ready", "lastProbeTime": "soon"}]}}
    error = refusal(lambda: pods.merge("py-0", bad, "status"))
    assert causes(error) == {("patch", "FieldValueInvalid")}
    assert "status.conditions[0].lastProbeTime must be an RFC 3339 time, not 'soon'" in error.message


def test_unknown_fields_of_a_pod_are_dropped_or_refused(pods: Site) -> None:
    body = pod_body(spec={"zone": 1})
    assert pods.api.create(pods.resource, "team-a", body).warnings == ('unknown field "spec.zone"',)
    strict = WriteOptions("Strict")
    assert refusal(lambda: pods.api.create(pods.resource, "team-a", body, strict)).code == 400


def test_a_kind_that_is_another_is_refused(pods: Site) -> None:
    error = refusal(lambda: pods.create({**pod_body(), "kind": "Node"}))
    assert error.code == 400
    assert error.message == "kind must be Pod, not Node"
