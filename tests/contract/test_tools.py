"""The suite's own tools: what they make equal, what they find different, and what they accept."""

from __future__ import annotations

from typing import Any

import pytest

from contract.compare import KNOWN, Difference, Known, differences, unexpected
from contract.normal import Normal

A, B = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


def said(body: Any, status: int = 200) -> dict[str, Any]:
    return {"status": status, "body": body}


def obj(uid: str, version: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"uid": uid, "resourceVersion": version, **more}}


def test_servers_that_count_differently_are_made_equal() -> None:
    def normal(first: str, second: str, uid: str, namespace: str, time: str) -> Any:
        body = [obj(uid, first), obj(uid, second, creationTimestamp=time, namespace=namespace)]
        record = [("GET /", body)]
        return Normal(namespace, record).of(body)

    one = normal("7", "9", A, "contract-x", "2026-01-02T03:04:05Z")
    assert one == normal("1041", "1042", B, "contract-y", "2026-02-03T04:05:06Z")
    assert one[1]["metadata"] == {
        "uid": "<uid 1>",
        "resourceVersion": "<version 2>",
        "creationTimestamp": "<time>",
        "namespace": "<namespace>",
    }


def test_the_version_of_a_list_is_told_by_the_writes_before_it() -> None:
    body = {"metadata": {"resourceVersion": "12"}, "items": [obj(A, "9"), obj(B, "12"), obj(B, "15")]}
    shown = Normal("ns", [("GET /", body)]).of(body)
    assert shown["metadata"]["resourceVersion"] == "<after version 2>"


def test_times_that_scripts_send_stay_and_managed_fields_go() -> None:
    body = {"at": "2001-02-03T04:05:06Z", "metadata": {"managedFields": [{"manager": "x"}]}}
    assert Normal("ns", []).of(body) == {"at": "2001-02-03T04:05:06Z", "metadata": {}}


@pytest.mark.parametrize(
    ("real", "embedded", "places"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["body.a"]),
        ({"a": 1}, {"a": True}, ["body.a"]),
        ({"a": None}, {}, ["body.a"]),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["body.a.0", "body.a.1"]),
        ({"a": [1, 2]}, {"a": [1]}, ["body.a"]),
        ({"a": {"b": {}}}, {"a": {"b": []}}, ["body.a.b"]),
    ],
)
def test_differences(real: Any, embedded: Any, places: list[str]) -> None:
    found = differences([("GET /", said(real))], [("GET /", said(embedded))])
    assert [one.place for one in found] == places


def test_another_status_is_one_difference() -> None:
    refused = said({"message": "no"}, 422)
    (found,) = differences([("GET /", refused)], [("GET /", said({"a": 1}))])
    assert (found.where, found.real, found.embedded) == ("GET / | status", "422 no", "200")


TABLE = [Known("script", "GET * | body.a", "because")]


def test_a_known_difference_is_accepted_in_its_script_only() -> None:
    difference = Difference("GET /x", "body.a", 1, 2)
    assert unexpected("script", [difference], TABLE) == []
    assert len(unexpected("other", [difference], TABLE)) == 1


def test_a_difference_that_is_gone_is_reported() -> None:
    assert unexpected("script", [], TABLE) == ["equal by now, take it out of the table: GET * | body.a"]


def test_a_new_difference_is_reported_beside_a_known_one() -> None:
    found = [Difference("GET /x", "body.a", 1, 2), Difference("GET /x", "body.b", 1, 2)]
    (problem,) = unexpected("script", found, TABLE)
    assert problem.startswith("GET /x | body.b")


def test_every_accepted_difference_has_a_reason() -> None:
    assert all(len(known.why.split()) > 5 for known in KNOWN)
