"""Requests over HTTP: status codes, headers, and what a collection is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embedded.bodies import condition_body, lease_body, pod_body, run_body
from embedded.http import PODS, RUNS, Serving, play, serving


def test_the_life_of_an_object() -> None:
    async def scene() -> None:
        async with serving() as site:
            created = await site.client.post(RUNS, run_body())
            assert created.status == 201
            assert created.headers["Content-Type"] == "application/json"
            assert (await site.client.post(RUNS, run_body())).status == 409
            bound = await site.client.merge(f"{RUNS}/r1/status", {"status": {"phase": "Scheduled"}})
            assert (bound.status, bound.body["status"]) == (200, {"phase": "Scheduled"})
            assert (await site.client.get(f"{RUNS}/r1")).body == bound.body
            assert (await site.client.get(f"{RUNS}/r1/status")).body == bound.body
            replaced = await site.client.send("PUT", f"{RUNS}/r1", bound.body)
            assert (replaced.status, replaced.body) == (200, bound.body)
            gone = await site.client.send("DELETE", f"{RUNS}/r1", {"propagationPolicy": "Background"})
            assert (gone.status, gone.body["status"]) == (200, "Success")
            missing = await site.client.get(f"{RUNS}/r1")
            assert (missing.status, missing.body["reason"], missing.body["code"]) == (404, "NotFound", 404)

    play(scene)


def test_a_put_that_creates_answers_201() -> None:
    async def scene() -> None:
        async with serving() as site:
            path = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/l1"
            assert (await site.client.send("PUT", path, lease_body())).status == 201

    play(scene)


def test_unknown_fields_are_told_in_a_header() -> None:
    async def scene() -> None:
        async with serving() as site:
            body = run_body(spec={"zone": 1})
            warned = await site.client.post(RUNS, body)
            assert warned.headers["Warning"] == '299 - "unknown field \\"spec.zone\\""'
            strict = await site.client.post(
                f"{RUNS}?fieldValidation=Strict", {**body, "metadata": {"name": "b"}}
            )
            assert (strict.status, strict.body["reason"]) == (400, "BadRequest")
            silent = await site.client.post(
                f"{RUNS}?fieldValidation=Ignore", {**body, "metadata": {"name": "c"}}
            )
            assert (silent.status, "Warning" in silent.headers) == (201, False)
            both = await site.client.post(RUNS, {**body, "metadata": {"name": "D"}})
            assert (both.status, "Warning" in both.headers) == (422, True)

    play(scene)


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "status"),
    [
        ("POST", RUNS, b"{", "application/json", 400),
        ("POST", RUNS, b"[]", "application/json", 400),
        ("POST", RUNS, b"a: b", "application/yaml", 415),
        ("POST", RUNS + "?dryRun=All", b"{}", "application/json", 400),
        ("POST", RUNS + "?fieldValidation=Some", b"{}", "application/json", 422),
        ("POST", RUNS, b" " * (3 * 1024 * 1024 + 1), "application/json", 413),
        ("POST", "/api/v1/namespaces", b"k8s\x00", "application/vnd.kubernetes.protobuf", 400),
        ("PATCH", RUNS + "/r1", b"{}", "application/json", 415),
        ("PATCH", RUNS + "/r1", b"{}", "application/apply-patch+yaml", 415),
        ("PATCH", RUNS + "/r1", b"{", "application/merge-patch+json", 400),
        ("DELETE", RUNS + "/r1", b"{", "application/json", 400),
        ("DELETE", RUNS + "/r1?gracePeriodSeconds=x", b"", "application/json", 400),
        ("DELETE", RUNS + "/r1?dryRun=All", b"", "application/json", 400),
        ("GET", RUNS + "?limit=x", None, "", 400),
        ("GET", RUNS + "?watch=true&resourceVersion=x", None, "", 500),
        ("GET", RUNS + "?watch=true&labelSelector=a+b", None, "", 400),
        ("PUT", RUNS, b"{}", "application/json", 400),
        ("POST", RUNS + "/r1", b"{}", "application/json", 400),
        ("DELETE", RUNS + "/r1/status", b"", "application/json", 405),
        ("POST", PODS + "/py-0", b"{}", "application/json", 405),
        ("DELETE", "/api/v1/namespaces", b"", "application/json", 405),
        ("GET", RUNS + "/r1/scale", None, "", 404),
        ("GET", "/apis/kruntimes.io/v1alpha1/runs/r1", None, "", 404),
        ("GET", "/apis/kruntimes.io/v1alpha1/namespaces/team-a/jobs", None, "", 404),
        ("GET", "/apis/kruntimes.io/v2/namespaces/team-a/runs", None, "", 404),
        ("GET", "/apis/nothing.io/v1", None, "", 404),
        ("GET", "/apis/nothing.io", None, "", 404),
        ("GET", "/api/v1/namespaces/team-a/namespaces", None, "", 404),
        ("GET", "/openapi/v3/apis/nothing.io/v1", None, "", 404),
        ("GET", "/nothing", None, "", 404),
        ("GET", "/", None, "", 404),
    ],
)
def test_requests_that_fail(
    method: str, path: str, body: bytes | None, content_type: str, status: int
) -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body())
            reply = await site.client.send(method, path, body, content_type)
            assert reply.status == status, reply.text

    play(scene)


def test_an_unknown_resource_is_a_plain_not_found() -> None:
    async def scene() -> None:
        async with serving() as site:
            assert (await site.client.get("/apis/kruntimes.io/v1alpha1/jobs")).text == "404 page not found\n"
            core = await site.client.get("/api/v1/nodes")
            assert core.body["message"] == "the server could not find the requested resource"

    play(scene)


def test_pages_go_over_the_wire() -> None:
    async def scene() -> None:
        async with serving() as site:
            for number in range(3):
                await site.client.post(RUNS, run_body(f"r{number}"))
            first = (await site.client.get(f"{RUNS}?limit=2")).body
            assert (first["kind"], first["apiVersion"]) == ("RunList", "kruntimes.io/v1alpha1")
            assert first["metadata"]["remainingItemCount"] == 1
            rest = (await site.client.get(f"{RUNS}?limit=2&continue={first['metadata']['continue']}")).body
            assert rest["metadata"] == {
                "continue": "",
                "resourceVersion": first["metadata"]["resourceVersion"],
            }
            names = [one["metadata"]["name"] for one in first["items"] + rest["items"]]
            assert names == ["r0", "r1", "r2"]
            future = await site.client.get(f"{RUNS}?resourceVersion=999")
            assert (future.status, future.headers["Retry-After"]) == (504, "1")

    play(scene)


def test_items_of_go_types_leave_their_kind_to_the_list() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(PODS, pod_body())
            await site.client.post(RUNS, run_body())
            pods = (await site.client.get(PODS)).body
            assert (pods["kind"], "kind" in pods["items"][0]) == ("PodList", False)
            assert "continue" not in pods["metadata"]
            assert (await site.client.get(RUNS)).body["items"][0]["kind"] == "Run"
            assert (await site.client.get(f"{PODS}/py-0")).body["kind"] == "Pod"

    play(scene)


def test_a_collection_is_deleted_by_a_query() -> None:
    async def scene() -> None:
        async with serving() as site:
            for name, app in (("a", "web"), ("b", "db")):
                await site.client.post(RUNS, run_body(name, labels={"app": app}))
            gone = await site.client.send("DELETE", f"{RUNS}?labelSelector=app%3Dweb")
            assert [one["metadata"]["name"] for one in gone.body["items"]] == ["a"]
            assert len((await site.client.get(RUNS)).body["items"]) == 1

    play(scene)


async def _patched(site: Serving, number: int) -> dict[str, Any]:
    condition = condition_body(f"C{number}")
    reply = await site.client.merge(f"{RUNS}/r1/status", {"status": {"conditions": [condition]}})
    found: dict[str, Any] = json.loads(reply.text)
    return found


def test_texts_of_any_language_come_through() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body(annotations={"a": "äß漢字\U0001f680"}))
            assert (await site.client.get(f"{RUNS}/r1")).body["metadata"]["annotations"][
                "a"
            ] == "äß漢字\U0001f680"
            assert (await _patched(site, 1))["status"]["conditions"][0]["type"] == "C1"

    play(scene)
