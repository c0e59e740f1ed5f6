"""Every row of the specification's table of statuses and retries, by a scheduler as its own process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from kruntimes_core.testing.objects import affinity_object, condition_object, term_object
from realcluster.client import RUNS
from realcluster.places import place, work
from realcluster.workload import BASE_TEXT, Workload, condition, now_text, placed, saying

__all__ = ["place", "work"]

AFFINITY_TEXT = "waiting for a runtime pod that satisfies required run affinity"
ANTI_TEXT = "waiting for a runtime pod without the runs that required run anti-affinity excludes"
MISSING_TEXT = "waiting for its persistent workspace to be created"
UNBOUND_TEXT = "waiting for its persistent workspace to be bound to a runtime pod"
WITH_A = affinity_object(required=[term_object({"app": "a"})])
WITHOUT_A = affinity_object(required_anti=[term_object({"app": "a"})])
Step = Callable[[Workload], object]


def nothing(work: Workload) -> None:
    """Leave the namespace as it is."""


def full(work: Workload) -> None:
    """One Pod, with a Run that takes all its room and that affinity speaks of."""
    work.pod("py-0", runs=1)
    work.run("x", labels={"app": "a"})
    work.wait_for("x", placed)


def pending_workspace(work: Workload) -> None:
    """A Pod, and a workspace that has none yet."""
    work.pod("py-0")
    work.workspace("ws")


@pytest.mark.parametrize(
    ("before", "spec", "text", "change"),
    [
        (nothing, {}, BASE_TEXT, lambda work: work.pod("py-0")),
        (lambda work: work.pod("py-0", ready=False), {}, BASE_TEXT, lambda work: work.beat("py-0")),
        (full, {}, BASE_TEXT, lambda work: work.end(["x"])),
        (
            lambda work: work.pod("py-0"),
            {"resources": {"requests": {"gpu": 1}}},
            BASE_TEXT,
            lambda work: work.pod("py-1", gpu=1),
        ),
        (
            lambda work: work.pod("py-0"),
            {"affinity": WITH_A},
            AFFINITY_TEXT,
            lambda work: work.run("x", labels={"app": "a"}),
        ),
        (full, {"affinity": WITHOUT_A}, BASE_TEXT, lambda work: work.end(["x"])),
        (
            pending_workspace,
            {"workspace": {"name": "ws"}},
            UNBOUND_TEXT,
            lambda work: work.bind_workspace("ws", "py-0"),
        ),
    ],
    ids=[
        "no Pod",
        "no ready Pod",
        "no room",
        "no such capacity",
        "affinity",
        "no room and anti-affinity",
        "workspace pending",
    ],
)
def test_what_cannot_be_met_now_waits_with_a_reason_and_is_woken_by_the_change(
    work: Workload, before: Step, spec: dict[str, Any], text: str, change: Step
) -> None:
    before(work)
    work.run("r", **spec)
    waiting = work.wait_for("r", saying(text))
    assert waiting == {"phase": "Pending", "message": text}
    change(work)
    bound = work.wait_for("r", placed, seconds=10)
    assert "message" not in bound
    assert [status.get("message") for status in work.ledger.history("r")] == [None, text, None]


def test_a_reason_is_written_once_when_it_becomes_another(work: Workload) -> None:
    work.pod("py-0", runs=2)
    work.run("x", labels={"app": "a"})
    work.wait_for("x", placed)
    work.beat("py-0", ready=False)
    work.run("r", affinity=WITHOUT_A)
    work.wait_for("r", saying(BASE_TEXT))
    work.beat("py-0")
    work.wait_for("r", saying(ANTI_TEXT))
    work.end(["x"])
    assert work.wait_for("r", placed, seconds=10)["assignedPod"] == "py-0"
    assert [status.get("message") for status in work.ledger.history("r")] == [
        None,
        BASE_TEXT,
        ANTI_TEXT,
        None,
    ]


def test_a_workspace_is_waited_for_state_by_state(work: Workload) -> None:
    work.pod("py-0")
    work.pod("py-1")
    work.run("r", workspace={"name": "ws"})
    work.wait_for("r", saying(MISSING_TEXT))
    work.workspace("ws")
    work.wait_for("r", saying(UNBOUND_TEXT))
    work.bind_workspace("ws", "py-1")
    assert work.wait_for("r", placed, seconds=10)["assignedPod"] == "py-1"
    assert len(work.ledger.history("r")) == 4


def test_a_retry_delay_that_ends_wakes_its_run(work: Workload) -> None:
    work.pod("py-0")
    work.run("r", resources={"requests": {"gpu": 1}}, retryPolicy={"maxAttempts": 3, "backoff": "2s"})
    work.wait_for("r", saying(BASE_TEXT))
    lost = {**condition_object("Running", False), "lastTransitionTime": now_text()}
    work.write("r", phase="Pending", attempt=2, conditions=[lost])
    work.pod("py-1", gpu=1)
    bound = work.wait_for("r", placed, seconds=10)
    since = datetime.fromisoformat(condition(bound, "Scheduled")["lastTransitionTime"])
    assert since >= datetime.fromisoformat(lost["lastTransitionTime"]) + timedelta(seconds=2)
    assert condition(bound, "Running") == lost


@pytest.mark.parametrize(
    ("reason", "spec"),
    [
        ("InvalidResources", {"resources": {"requests": {"gpu": "500m"}}}),
        ("InvalidResources", {"resources": {"requests": {"gpu": "1e999999999"}}}),
        (
            "InvalidAffinity",
            {
                "affinity": affinity_object(
                    required=[term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}])]
                )
            },
        ),
    ],
)
def test_an_invalid_constraint_fails_with_a_reason_and_never_loops(
    work: Workload, reason: str, spec: dict[str, Any]
) -> None:
    work.run("r", **spec)
    failed = work.wait_for("r", lambda now: now.get("phase") == "Failed")
    for kind in ("Running", "Completed"):
        found = condition(failed, kind)
        assert (found["status"], found["reason"], found["message"]) == ("False", reason, failed["message"])
    assert failed["completionTime"] == condition(failed, "Completed")["lastTransitionTime"]
    version = work.get("r")["metadata"]["resourceVersion"]
    work.pod("py-0")
    work.run("other")
    work.wait_for("other", placed)
    assert work.get("r")["metadata"]["resourceVersion"] == version


def test_a_preference_that_cannot_be_met_is_no_constraint(work: Workload) -> None:
    work.pod("py-0")
    work.run("r", affinity=affinity_object(preferred=[(100, term_object({"app": "nowhere"}))]))
    assert work.wait_for("r", placed)["assignedPod"] == "py-0"


def test_a_pod_that_turns_unhealthy_after_the_bind_is_the_platforms_affair(work: Workload) -> None:
    old = work.pod("py-0")
    work.run("r")
    assert work.wait_for("r", placed)["assignedPodUID"] == old
    version = work.get("r")["metadata"]["resourceVersion"]
    work.beat("py-0", ready=False)
    work.run("other")
    work.wait_for("other", saying(BASE_TEXT))
    assert work.get("r")["metadata"]["resourceVersion"] == version
    # The platform's own retry flow: the Pod is replaced, and the Run queued again.
    work.delete_pod("py-0")
    new = work.pod("py-0", runs=1)
    work.wait_for("other", placed)
    work.end(["other"])
    work.write("r", phase="Pending", attempt=2, assignedPod=None, assignedPodUID=None)
    assert work.wait_for("r", placed)["assignedPodUID"] == new


def test_a_run_that_is_being_deleted_is_left_alone(work: Workload) -> None:
    made = work.run("r", resources={"requests": {"gpu": 1}})
    work.wait_for("r", saying(BASE_TEXT))
    kept = {"metadata": {"finalizers": ["example.com/keep"]}}
    assert work.client.patch(RUNS, made["metadata"]["name"], kept, work.namespace).status == 200
    work.delete("r")
    version = work.get("r")["metadata"]["resourceVersion"]
    work.pod("py-0", gpu=1)
    work.run("other", resources={"requests": {"gpu": 1}})
    work.wait_for("other", placed)
    assert work.get("r")["metadata"]["resourceVersion"] == version


def test_a_text_of_somebody_else_survives_the_bind(work: Workload) -> None:
    work.pod("py-0")
    work.run("r")
    work.wait_for("r", placed)
    text = "attempt 1 ran out of memory"
    work.write("r", phase="Pending", attempt=2, message=text, assignedPod=None, assignedPodUID=None)
    assert work.wait_for("r", placed)["message"] == text
