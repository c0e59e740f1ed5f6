"""Refusals are read, whoever worded them, and Retry-After in whatever form."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from kruntimes_core.cluster.client.errors import Status, retry_after, status_of
from kruntimes_core.cluster.client.transport import Response

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2.0),
        (" 10 ", 10.0),
        ("0", 0.0),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30.0),
        ("Fri, 02 Jan 2026 03:04:35 -0000", 30.0),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\N{ARABIC-INDIC DIGIT ONE}", None),
        ("", None),
        ("Fri, 99 Jan 2026 99:99:99 GMT", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_a_date_or_nonsense(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOW) == seconds


def test_a_status_object_says_why() -> None:
    body = {
        "kind": "Status",
        "code": 409,
        "reason": "Conflict",
        "message": "line\nbreak",
        "details": {"retryAfterSeconds": 3},
    }
    found = status_of(Response(409, json.dumps(body).encode()), NOW)
    assert found == Status(409, "Conflict", "line break", 3.0, is_api=True)


@pytest.mark.parametrize(("seconds", "found"), [(1, 1.0), (0, None), (-1, None), (True, None)])
def test_a_body_asks_for_a_pause_in_whole_seconds(seconds: object, found: float | None) -> None:
    body = {"kind": "Status", "details": {"retryAfterSeconds": seconds}}
    assert status_of(Response(429, json.dumps(body).encode()), NOW).retry_after == found


def test_the_header_counts_before_the_body() -> None:
    body = {"kind": "Status", "details": {"retryAfterSeconds": 3}}
    found = status_of(Response(429, json.dumps(body).encode(), {"retry-after": "7"}), NOW)
    assert found.retry_after == 7.0


@pytest.mark.parametrize("body", [b"", b"404 page not found", b"\xff\xfe", b"[]", b'{"kind": "Run"}'])
def test_what_is_no_status_is_shown_as_text(body: bytes) -> None:
    found = status_of(Response(502, body), NOW)
    assert (found.code, found.is_api) == (502, False)


@pytest.mark.parametrize(
    "body",
    [{"code": "x", "reason": 5, "message": None, "details": []}, {"details": {"retryAfterSeconds": "1"}}],
)
def test_fields_of_wrong_types_read_as_empty(body: dict[str, object]) -> None:
    found = status_of(Response(500, json.dumps({"kind": "Status", **body}).encode()), NOW)
    assert found == Status(500, is_api=True)


def test_a_long_message_is_cut() -> None:
    assert len(status_of(Response(500, b"x" * 10_000), NOW).message) == 300


@pytest.mark.parametrize(
    ("gone", "body"),
    [
        (True, {"reason": "Forbidden", "details": {"causes": [{"reason": "NamespaceTerminating"}]}}),
        (True, {"reason": "NamespaceTerminating"}),
        (True, {"reason": "Forbidden", "message": "x" * 400 + " because it is being terminated"}),
        (True, {"reason": "NotFound", "details": {"name": "team-a", "kind": "namespaces"}}),
        (False, {"reason": "NotFound", "details": {"name": "r1", "kind": "runs"}}),
        (False, {"reason": "Forbidden", "details": {"causes": ["NamespaceTerminating", 7]}}),
        (False, {"reason": "Forbidden", "details": "NamespaceTerminating", "message": 7}),
    ],
)
def test_a_namespace_that_is_deleted_is_told_from_a_missing_permission(
    gone: bool, body: dict[str, object]
) -> None:
    status = status_of(Response(403, json.dumps({"kind": "Status", **body}).encode()), NOW)
    assert status.namespace_gone is gone
