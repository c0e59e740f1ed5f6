"""Cancellations, whenever they come: what the scheduler ends, and what it leaves to others."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.testing.objects import condition_object
from realcluster.places import place, work
from realcluster.workload import BASE_TEXT, Workload, condition, now_text, placed, saying

__all__ = ["place", "work"]


@pytest.mark.parametrize("spec", [{}, {"resources": {"requests": {"gpu": "-1"}}}], ids=["valid", "invalid"])
def test_a_run_that_is_cancelled_from_the_beginning_ends_as_cancelled(
    work: Workload, spec: dict[str, Any]
) -> None:
    work.pod("py-0")
    work.run("r", cancelRequested=True, **spec)
    ended = work.wait_for("r", lambda now: now.get("phase") == "Cancelled")
    assert "assignedPod" not in ended
    assert ended["completionTime"]
    for kind in ("Running", "Completed"):
        assert (condition(ended, kind)["status"], condition(ended, kind)["reason"]) == ("False", "Cancelled")


def test_a_run_is_cancelled_during_its_retry_delay(work: Workload) -> None:
    work.pod("py-0")
    work.run("r", resources={"requests": {"gpu": 1}}, retryPolicy={"maxAttempts": 3, "backoff": "60s"})
    work.wait_for("r", saying(BASE_TEXT))
    lost = {**condition_object("Running", False), "lastTransitionTime": now_text()}
    work.write("r", phase="Pending", attempt=2, conditions=[lost])
    work.cancel("r")
    ended = work.wait_for("r", lambda now: now.get("phase") == "Cancelled", seconds=10)
    assert condition(ended, "Completed")["reason"] == "Cancelled"
    assert condition(ended, "Running")["lastTransitionTime"] == lost["lastTransitionTime"]


def test_a_cancellation_after_the_bind_is_left_to_others(work: Workload) -> None:
    work.pod("py-0", runs=1)
    work.run("r")
    work.wait_for("r", placed)
    work.cancel("r")
    version = work.get("r")["metadata"]["resourceVersion"]
    work.run("other")
    work.wait_for("other", saying(BASE_TEXT))
    assert work.get("r")["metadata"]["resourceVersion"] == version
