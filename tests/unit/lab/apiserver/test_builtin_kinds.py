"""Pods, Namespaces, Leases, Events and CustomResourceDefinitions, as a real server treats them."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.api import Site, causes, new_api, refusal
from embedded.bodies import Object, event_body, lease_body, namespace_body, pod_body, run_body
from kruntimes_core.lab.apiserver.objects import version_of
from kruntimes_core.lab.apiserver.protobuf import read_namespace
from kruntimes_core.lab.apiserver.requests import Patch, WriteOptions
from kruntimes_core.lab.apiserver.resources import STRATEGIC
from kruntimes_core.lab.apiserver.server import ApiServer


@pytest.fixture
def api() -> ApiServer:
    return new_api()


@pytest.fixture
def pods(api: ApiServer) -> Site:
    return Site(api, "pods")


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
    assert "pod updates may not change fields other than `spec.containers[*].image`" in error.message


def test_a_pod_may_be_replaced_without_a_version(pods: Site) -> None:
    pods.create(pod_body())
    current = pods.get("py-0")
    body = {**current, "metadata": {"name": "py-0", "labels": {"runtime": "js"}}}
    assert pods.update(body)["metadata"]["labels"] == {"runtime": "js"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {**pod_body(), "spec": "x"},
            "cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec",
        ),
        (
            pod_body(spec={"containers": "x"}),
            "cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            pod_body(spec={"hostNetwork": 1}),
            "cannot unmarshal number into Go struct field PodSpec.spec.hostNetwork",
        ),
    ],
)
def test_a_pod_of_wrong_types_cannot_be_read(pods: Site, body: Object, said: str) -> None:
    error = refusal(lambda: pods.create(body))
    assert (error.code, error.reason) == (400, "BadRequest")
    assert error.message.startswith('Pod in version "v1" cannot be handled as a Pod: json: ' + said)


def test_a_time_that_is_none_cannot_be_read(pods: Site) -> None:
    pods.create(pod_body())
    bad = {"status": {"conditions": [{"type": "Ready", "lastProbeTime": "soon"}]}}
    error = refusal(lambda: pods.merge("py-0", bad, "status"))
    assert causes(error) == {("patch", "FieldValueInvalid")}
    assert (
        'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"' in error.message
    )


def test_unknown_fields_of_a_pod_are_dropped_or_refused(pods: Site) -> None:
    body = pod_body(spec={"zone": 1})
    assert pods.api.create(pods.resource, "team-a", body).warnings == ('unknown field "spec.zone"',)
    strict = WriteOptions("Strict")
    assert refusal(lambda: pods.api.create(pods.resource, "team-a", body, strict)).code == 400


def test_a_kind_that_is_another_is_refused(pods: Site) -> None:
    error = refusal(lambda: pods.create({**pod_body(), "kind": "Node"}))
    assert error.code == 400
    assert 'no kind "Node" is registered for version "v1"' in error.message


def test_a_namespace_begins_active(api: ApiServer) -> None:
    namespaces = Site(api, "namespaces")
    created = namespaces.create(namespace_body("b", labels={"a": "1"}))
    assert created["metadata"]["labels"] == {"a": "1", "kubernetes.io/metadata.name": "b"}
    assert (created["spec"], created["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    changed = namespaces.merge("b", {"metadata": {"labels": {"a": "2"}}, "spec": None, "status": None})
    assert (changed["spec"], changed["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    error = refusal(lambda: namespaces.create(namespace_body("b.c")))
    assert "must not contain dots" in error.message


def test_a_lease_keeps_microseconds(api: ApiServer) -> None:
    leases = Site(api, "leases")
    created = leases.create(
        lease_body(holderIdentity="a", leaseDurationSeconds=15, renewTime="2026-01-02T04:04:05.123456+01:00")
    )
    assert created["spec"] == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "renewTime": "2026-01-02T03:04:05.123456Z",
    }
    assert "generation" not in created["metadata"]


@pytest.mark.parametrize("time", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5Z", "now"])
def test_a_lease_wants_six_digits(api: ApiServer, time: str) -> None:
    error = refusal(lambda: Site(api, "leases").create(lease_body(renewTime=time)))
    assert error.code == 400
    assert f'parsing time "{time}" as "2006-01-02T15:04:05.000000Z07:00"' in error.message


@pytest.mark.parametrize("spec", [{"leaseDurationSeconds": 0}, {"leaseTransitions": -1}])
def test_a_lease_is_judged(api: ApiServer, spec: Object) -> None:
    (field,) = spec
    error = refusal(lambda: Site(api, "leases").create(lease_body(**spec)))
    assert causes(error) == {(f"spec.{field}", "FieldValueInvalid")}


def test_a_put_creates_a_lease_and_then_needs_its_version(api: ApiServer) -> None:
    leases = Site(api, "leases")
    body = lease_body(holderIdentity="a")
    answer = api.update(leases.resource, "team-a", "l1", body)
    assert answer.code == 201
    assert refusal(lambda: leases.update(body)).code == 422
    taken = {**answer.object, "spec": {"holderIdentity": "b"}}
    assert leases.update(taken)["spec"] == {"holderIdentity": "b"}
    assert refusal(lambda: leases.update(taken)).code == 409


def test_a_put_of_a_lease_that_is_gone_creates_none(api: ApiServer) -> None:
    leases = Site(api, "leases")
    before = leases.create(lease_body(holderIdentity="a"))
    leases.delete("l1")
    error = refusal(lambda: leases.update(before))
    assert (error.code, error.reason) == (409, "Conflict")
    uid = before["metadata"]["uid"]
    assert error.message.endswith(f"UID in precondition: {uid}, UID in object meta: ")


def test_an_event_is_one_object_seen_through_two_groups(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    watch = old.watch(resource_version=str(api.store.version))
    created = new.create(event_body())
    seen = old.get("e1")
    assert (created["apiVersion"], seen["apiVersion"]) == ("events.k8s.io/v1", "v1")
    assert seen["message"] == created["note"] == "assigned to runtime pod py-0"
    assert seen["involvedObject"] == created["regarding"]
    assert seen["reportingComponent"] == created["reportingController"] == "kruntimes.io/scheduler"
    assert (seen["source"], seen["firstTimestamp"], seen["lastTimestamp"]) == ({}, None, None)
    assert created["deprecatedSource"] == {}
    assert "reportingController" not in seen
    assert [event.type for event in watch.pending()] == ["ADDED"]
    old.delete("e1")
    assert refusal(lambda: new.get("e1")).code == 404


def test_an_old_event_is_read_through_the_new_group(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    old.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e1"},
            "involvedObject": {"kind": "Run", "namespace": "team-a", "name": "r1"},
            "reason": "X",
            "message": "m",
            "type": "Warning",
            "count": 2,
            "source": {"component": "c"},
            "firstTimestamp": "2026-01-02T03:04:05Z",
        }
    )
    seen = new.get("e1")
    assert (seen["note"], seen["deprecatedCount"], seen["deprecatedSource"]) == ("m", 2, {"component": "c"})
    assert (seen["eventTime"], seen["deprecatedLastTimestamp"]) == (None, None)
    assert not {"reportingController", "reportingInstance", "message"} & set(seen)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"action": None}, {"action"}),
        ({"reason": ""}, {"reason"}),
        ({"reportingController": None}, {"reportingController"}),
        ({"reportingController": "a b"}, {"reportingController"}),
        ({"reportingInstance": "x" * 129}, {"reportingInstance"}),
        ({"note": "x" * 1025}, {"message"}),
        ({"type": "Odd"}, {"type"}),
        ({"regarding": {"kind": "Run"}}, {"involvedObject.namespace"}),
        ({"deprecatedCount": 3}, {"count"}),
        ({"series": {"count": 1}}, {"series.count", "series.lastObservedTime"}),
        ({"eventTime": None}, {"eventTime"}),
    ],
)
def test_the_new_group_is_strict(api: ApiServer, change: Object, fields: set[str]) -> None:
    error = refusal(lambda: Site(api, "events", "events.k8s.io").create(event_body(**change)))
    assert error.code == 422
    assert {field for field, _ in causes(error)} == fields
    assert error.message.startswith('Event "e1" is invalid: ')


def test_the_old_group_is_lenient(api: ApiServer) -> None:
    old = Site(api, "events", "")
    body: Object = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"}}
    about = {"kind": "Run", "namespace": "team-a"}
    assert old.create({**body, "involvedObject": about})["reportingInstance"] == ""
    error = refusal(lambda: old.create({**body, "involvedObject": {**about, "namespace": "other"}}))
    assert causes(error) == {("involvedObject.namespace", "FieldValueInvalid")}


def test_of_an_event_only_the_series_may_change(api: ApiServer) -> None:
    new = Site(api, "events", "events.k8s.io")
    new.create(event_body())
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000000Z"}
    assert new.patch("e1", STRATEGIC, {"series": series})["series"] == series
    assert causes(refusal(lambda: new.merge("e1", {"note": "other"}))) == {("message", "FieldValueInvalid")}


def test_events_are_selected_by_what_they_are_about(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    new.create(event_body("a"))
    new.create(event_body("b", regarding={"kind": "Run", "namespace": "team-a", "name": "r2"}))
    assert old.names(field_selector="involvedObject.name=r2,involvedObject.kind=Run") == ["b"]
    assert old.names(field_selector="source=kruntimes.io/scheduler,type=Normal") == ["a", "b"]
    assert new.names(field_selector="regarding.name=r1,reason=Assigned") == ["a"]
    assert refusal(lambda: new.names(field_selector="involvedObject.name=r1")).code == 400


def test_the_definitions_are_there_and_established(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    assert definitions.names() == [
        "persistentworkspaces.kruntimes.io",
        "runs.kruntimes.io",
        "runtimes.kruntimes.io",
    ]
    status = definitions.get("runs.kruntimes.io")["status"]
    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["storedVersions"] == ["v1alpha1"]
    assert status["acceptedNames"]["plural"] == "runs"


def test_a_changed_definition_is_served_at_once(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    before = definitions.get("runs.kruntimes.io")
    assert definitions.update(before) == before
    version: dict[str, Any] = before["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    properties = {**schema["properties"]["spec"]["properties"], "zone": {"type": "string"}}
    spec = {**schema["properties"]["spec"], "properties": properties}
    changed = {**schema, "properties": {**schema["properties"], "spec": spec}}
    versions = [{**version, "schema": {"openAPIV3Schema": changed}}]
    definitions.merge("runs.kruntimes.io", {"spec": {"versions": versions}})
    assert Site(api, "runs").create(run_body(spec={"zone": "a"}))["spec"]["zone"] == "a"
    again = refusal(lambda: definitions.create({**before, "metadata": {"name": "runs.kruntimes.io"}}))
    assert again.code == 409


def test_a_definition_may_be_added_and_is_judged(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    body: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "jobs.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Cluster",
            "names": {"kind": "Job", "plural": "jobs"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                },
                {"name": "v0", "served": False},
            ],
        },
    }
    error = refusal(lambda: definitions.create({**body, "metadata": {"name": "job"}}))
    assert causes(error) == {("metadata.name", "FieldValueInvalid")}
    definitions.create(body)
    jobs = Site(api, "jobs")
    assert (
        jobs.create({"apiVersion": "x.io/v1", "kind": "Job", "metadata": {"name": "j"}})["metadata"]["name"]
        == "j"
    )
    assert api.resources.find("x.io", "v0", "jobs") is None
    assert refusal(lambda: definitions.create({**body, "spec": 3})).code == 400


def test_a_namespace_comes_as_protocol_buffers_from_kubectl() -> None:
    def field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    labels = field(11, field(1, b"a") + field(2, b"b"))
    metadata = field(1, b"team-b") + b"\x38\x00" + labels
    kind = field(1, b"v1") + field(2, b"Namespace")
    body = b"k8s\x00" + field(1, kind) + field(2, field(1, metadata))
    assert read_namespace(body) == namespace_body("team-b", labels={"a": "b"})
    for broken in (
        body[:-1],
        body[4:],
        b"k8s\x00" + field(1, field(1, b"v1") + field(2, b"Pod")),
        body + b"\x0f",
    ):
        with pytest.raises(ValueError, match=r"\w"):
            read_namespace(broken)


def test_what_is_given_out_is_shared_and_written_once(pods: Site) -> None:
    pods.create(pod_body())
    assert pods.get("py-0") is pods.get("py-0")
    assert version_of(pods.get("py-0")) == str(pods.api.store.version)
    patch = Patch(STRATEGIC, {"metadata": {"labels": {"runtime": "py"}}})
    assert pods.api.patch(pods.resource, "team-a", "py-0", patch).object is pods.get("py-0")
