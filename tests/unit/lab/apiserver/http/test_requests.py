"""Requests over HTTP: status codes, headers, and what a collection is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embedded.bodies import condition_body, run_body
from embedded.http import RUNS, Serving, play, serving


def test_unknown_fields_are_told_in_a_header() -> None:
    async def scene() -> None:
        async with serving() as site:
            body = run_body(spec={"source": {"zone": 1}})
            warned = await site.client.post(RUNS, body)
            assert warned.headers["Warning"] == '299 - "unknown field \\"spec.source.zone\\""'
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
        ("POST", RUNS + "?dryRun=All", b"{}", "application/json", 400),
        ("POST", "/api/v1/namespaces", b"k8s\x00", "application/vnd.kubernetes.protobuf", 400),
        ("PATCH", RUNS + "/r1", b"{}", "application/apply-patch+yaml", 415),
        ("DELETE", RUNS + "/r1", b"{", "application/json", 400),
        ("DELETE", RUNS + "/r1?gracePeriodSeconds=x", b"", "application/json", 400),
        ("DELETE", RUNS + "/r1?dryRun=All", b"", "application/json", 400),
        ("DELETE", RUNS + "/r1/status", b"", "application/json", 405),
        ("GET", RUNS + "/r1/scale", None, "", 404),
        ("GET", "/api/v1/namespaces/team-a/namespaces", None, "", 404),
        ("GET", "/openapi/v3/apis/nothing.io/v1", None, "", 404),
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
