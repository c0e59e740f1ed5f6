"""What a Run itself asks for while it is Pending: labels, cancellation, deletion."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.engine.api_calls import Refused
from kruntimes_core.testing import affinity_object, condition_object, term_object
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import Host, hold_request, refuse


def near(app: str) -> dict[str, Any]:
    return affinity_object(required=[term_object({"app": app})])


def test_its_own_labels_wake_a_run(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.change("r", metadata={"labels": {"app": "a"}})
    host.settle()
    assert host.pod_of("r") == "py-0"


@pytest.mark.parametrize(
    "when", ["waiting", "in its delay", "in backoff", "with an invalid request", "queued"]
)
def test_a_cancelled_run_ends_at_once_and_first_of_all(host: Host, when: str) -> None:
    if when == "in its delay":
        stopped = condition_object("Running", False, since=NOW)
        host.run("r", status={"attempt": 5, "conditions": [stopped]})
    elif when == "in backoff":
        host.pod("py-0")
        host.disturb("r", refuse(422))
        host.run("r")
    elif when == "with an invalid request":
        host.run("r", requests={"gpu": "0.5"}, spec={"cancelRequested": True})
    else:
        host.run("r")
    if when not in ("queued", "with an invalid request"):
        host.settle()
    if when != "with an invalid request":
        host.change("r", spec={"cancelRequested": True})
    host.settle()
    status = host.status("r")
    assert status["phase"] == "Cancelled"
    assert status["completionTime"] == "2026-01-02T03:04:05Z"
    conditions = {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}
    assert conditions["Running"] == conditions["Completed"] == ("False", "Cancelled")
    assert host.pod_of("r") is None


def test_a_cancellation_after_the_accepted_bind_is_left_to_others(host: Host) -> None:
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.change("r", spec={"cancelRequested": True})
    host.advance(60)
    assert host.status("r")["phase"] == "Scheduled"


def test_a_run_that_is_being_deleted_is_left_alone(host: Host) -> None:
    deleting = {"deletionTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["example.com/f"]}
    host.pod("py-0", runs=4)
    host.run("r1", metadata=deleting)
    host.run("r2", metadata=deleting, spec={"cancelRequested": True})
    host.run("r3", metadata=deleting, requests={"gpu": "0.5"})
    host.advance(60)
    assert not host.requests


@pytest.mark.parametrize("status", [403, 409, 429])
def test_a_run_that_somebody_else_ended_while_its_own_end_was_under_way_is_left_alone(
    host: Host, status: int
) -> None:
    host.disturb("r", hold_request)
    host.run("r", spec={"cancelRequested": True})
    host.settle()
    host.change("r", status={"phase": "Failed", "message": "by somebody else"})
    host.settle()
    host.release("r", Refused(status))
    host.advance(600)
    assert (host.status("r")["phase"], host.status("r")["message"]) == ("Failed", "by somebody else")
    assert len(host.requests) == 1
