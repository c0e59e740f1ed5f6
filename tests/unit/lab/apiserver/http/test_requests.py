"""Requests over HTTP: status codes, headers, and what a collection is asked for."""

from __future__ import annotations

import pytest

from embedded.bodies import NAMESPACE, run_body
from embedded.place import serving
from kruntimes_core.testing import condition_object
from realcluster.client import RUNS, Client

PATH = RUNS.path(NAMESPACE)


def test_unknown_fields_are_told_in_a_header() -> None:
    with serving() as server:
        client = Client(server.url)
        body = run_body(spec={"source": {"zone": 1}})
        warned = client.create(RUNS, body, NAMESPACE)
        assert warned.warnings == ('299 - "unknown field \\"spec.source.zone\\""',)
        strict = client.request("POST", f"{PATH}?fieldValidation=Strict", {**body, "metadata": {"name": "b"}})
        assert (strict.status, strict.reason) == (400, "BadRequest")
        silent = client.request("POST", f"{PATH}?fieldValidation=Ignore", {**body, "metadata": {"name": "c"}})
        assert (silent.status, len(silent.warnings)) == (201, 0)
        both = client.create(RUNS, {**body, "metadata": {"name": "D"}}, NAMESPACE)
        assert (both.status, len(both.warnings)) == (422, 1)


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "status"),
    [
        ("POST", PATH + "?dryRun=All", b"{}", "application/json", 400),
        ("POST", "/api/v1/namespaces", b"k8s\x00", "application/vnd.kubernetes.protobuf", 400),
        ("PATCH", PATH + "/r1", b"{}", "application/apply-patch+yaml", 415),
        ("DELETE", PATH + "/r1", b"{", "application/json", 400),
        ("DELETE", PATH + "/r1?gracePeriodSeconds=x", b"", "application/json", 400),
        ("DELETE", PATH + "/r1?dryRun=All", b"", "application/json", 400),
        ("DELETE", PATH + "/r1/status", b"", "application/json", 405),
        ("GET", PATH + "/r1/scale", None, "", 404),
        ("GET", "/api/v1/namespaces/team-a/namespaces", None, "", 404),
        ("GET", "/openapi/v3/apis/nothing.io/v1", None, "", 404),
        ("GET", "/", None, "", 404),
    ],
)
def test_requests_that_fail(
    method: str, path: str, body: bytes | None, content_type: str, status: int
) -> None:
    with serving() as server:
        client = Client(server.url)
        client.create(RUNS, run_body(), NAMESPACE)
        reply = client.request(method, path, body, content_type=content_type)
        assert reply.status == status, reply.body


def test_texts_of_any_language_come_through() -> None:
    with serving() as server:
        client = Client(server.url)
        text = "äß漢字\U0001f680"
        client.create(RUNS, run_body(annotations={"a": text}), NAMESPACE)
        assert client.get(RUNS, "r1", NAMESPACE).body["metadata"]["annotations"] == {"a": text}
        condition = condition_object("C1")
        patched = client.patch(RUNS, "r1", {"status": {"conditions": [condition]}}, NAMESPACE, "status")
        assert patched.body["status"]["conditions"] == [condition]
