"""Namespaces and Leases, as a real server treats them."""

from __future__ import annotations

import pytest

from embedded.api import Site, causes, refusal
from embedded.bodies import Object, lease_body, namespace_body
from kruntimes_core.lab.apiserver.http.negotiation import read_namespace
from kruntimes_core.lab.apiserver.server import ApiServer


def test_a_namespace_begins_active(api: ApiServer) -> None:
    namespaces = Site(api, "namespaces")
    created = namespaces.create(namespace_body("b", labels={"a": "1"}))
    assert created["metadata"]["labels"] == {"a": "1", "kubernetes.io/metadata.name": "b"}
    assert (created["spec"], created["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    changed = namespaces.merge("b", {"metadata": {"labels": {"a": "2"}}, "spec": None, "status": None})
    assert (changed["spec"], changed["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    error = refusal(lambda: namespaces.create(namespace_body("b.c")))
    assert "must consist of lower case alphanumeric characters or '-'" in error.message


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
    assert "spec.renewTime must be " in error.message


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
    assert f"metadata.uid is {before['metadata']['uid']}" in error.message


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
