"""Runs are executed where they are bound, and end as they are fated to."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.lab.runtimes.behaviour import Behaviour
from tests.unit.lab.runtimes.scene import TASK_SECONDS, Site, passes, play

FAILING = Behaviour(run=(TASK_SECONDS, TASK_SECONDS), failure_rate=1.0)


async def bound(site: Site, **spec: Any) -> None:
    """A Run `r` on a Pod that is ready."""
    site.runtime()
    await passes(2)
    site.run("r", **spec)
    site.bind("r", "py-0")
    await passes(1)


def truths(site: Site) -> dict[str, str]:
    return {kind: one["status"] for kind, one in site.conditions("runs", "r").items()}


def test_a_task_runs_for_its_time_and_succeeds() -> None:
    async def scene(site: Site) -> None:
        await bound(site)
        assert site.status("r")["phase"] == "Running"
        assert site.status("r")["startTime"] == "2026-01-02T03:04:07Z"
        assert truths(site) == {"Running": "True"}
        await passes(TASK_SECONDS - 2)
        assert site.status("r")["phase"] == "Running"
        await passes(2)
        assert site.status("r")["phase"] == "Succeeded"
        assert site.status("r")["completionTime"] == "2026-01-02T03:04:17Z"
        assert truths(site) == {"Running": "False", "Completed": "True"}
        assert site.status("r")["assignedPod"] == "py-0"

    play(scene)


def test_a_run_that_nobody_bound_is_left_alone() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        site.run("r")
        await passes(60)
        assert "status" not in site.get("runs", "r")

    play(scene)


def test_a_task_fails_and_is_over_without_a_retry_policy() -> None:
    async def scene(site: Site) -> None:
        await bound(site)
        await passes(TASK_SECONDS)
        assert site.status("r")["phase"] == "Failed"
        assert site.conditions("runs", "r")["Completed"]["reason"] == "TaskFailed"
        assert truths(site) == {"Running": "False", "Completed": "False"}

    play(scene, FAILING)


def test_a_failed_attempt_is_queued_again_until_the_last() -> None:
    async def scene(site: Site) -> None:
        await bound(site, retryPolicy={"maxAttempts": 2})
        await passes(TASK_SECONDS)
        status = site.status("r")
        assert (status["phase"], status["attempt"]) == ("Pending", 2)
        assert "assignedPod" not in status
        assert "assignedPodUID" not in status
        assert status["message"] == "attempt 1 of 2: the simulated task failed"
        running = site.conditions("runs", "r")["Running"]
        assert (running["status"], running["lastTransitionTime"]) == ("False", "2026-01-02T03:04:17Z")
        assert "completionTime" not in status

        site.bind("r", "py-0")
        await passes(TASK_SECONDS + 1)
        assert site.status("r")["phase"] == "Failed"
        assert site.status("r")["attempt"] == 2

    play(scene, FAILING)


def test_a_reason_that_is_not_to_be_retried_ends_the_run() -> None:
    async def scene(site: Site) -> None:
        await bound(site, retryPolicy={"maxAttempts": 5, "retryableReasons": ["OutOfMemory"]})
        await passes(TASK_SECONDS)
        assert site.status("r")["phase"] == "Failed"

    play(scene, FAILING)


def test_a_timeout_shorter_than_the_task_ends_it() -> None:
    async def scene(site: Site) -> None:
        await bound(site, timeout="3s")
        await passes(3)
        assert site.status("r")["phase"] == "Timeout"
        assert site.conditions("runs", "r")["Completed"]["reason"] == "Timeout"

    play(scene)


def test_a_timeout_is_retried_as_a_failure_is() -> None:
    async def scene(site: Site) -> None:
        await bound(site, timeout="3s", retryPolicy={"maxAttempts": 2})
        await passes(3)
        assert (site.status("r")["phase"], site.status("r")["attempt"]) == ("Pending", 2)

    play(scene)


def test_a_timeout_that_is_not_reached_changes_nothing() -> None:
    async def scene(site: Site) -> None:
        await bound(site, timeout="1h")
        await passes(TASK_SECONDS)
        assert site.status("r")["phase"] == "Succeeded"

    play(scene)


def test_a_running_task_is_cancelled_on_request() -> None:
    async def scene(site: Site) -> None:
        await bound(site)
        site.change("runs", "r", spec={"cancelRequested": True})
        await passes(1)
        assert site.status("r")["phase"] == "Cancelled"
        assert truths(site) == {"Running": "False", "Completed": "False"}

    play(scene)


FUNCTION: dict[str, Any] = {
    "mode": {"function": {"handler": "api.handle", "idleTimeoutSeconds": 30}},
    "source": {"inline": "def handle(event): ...", "inlinePath": "api.py"},
}


def test_a_function_is_ready_until_it_was_idle_for_long_enough() -> None:
    async def scene(site: Site) -> None:
        await bound(site, **FUNCTION)
        assert site.status("r")["phase"] == "Ready"
        assert truths(site) == {"Ready": "True"}
        await passes(28)
        assert site.status("r")["phase"] == "Ready"
        await passes(2)
        assert site.status("r")["phase"] == "Succeeded"
        assert truths(site) == {"Ready": "False", "Running": "False", "Completed": "True"}

    play(scene)


def test_a_function_without_a_limit_stays_until_it_is_cancelled() -> None:
    async def scene(site: Site) -> None:
        mode = {"function": {"handler": "api.handle"}}
        await bound(site, **{**FUNCTION, "mode": mode})
        await passes(3600)
        assert site.status("r")["phase"] == "Ready"
        site.change("runs", "r", spec={"cancelRequested": True})
        await passes(1)
        assert site.status("r")["phase"] == "Cancelled"

    play(scene)


def test_a_run_whose_pod_is_gone_fails() -> None:
    async def scene(site: Site) -> None:
        await bound(site)
        site.delete("pods", "py-0")
        await passes(2)
        assert site.status("r")["phase"] == "Failed"
        assert site.conditions("runs", "r")["Completed"]["reason"] == "RuntimePodLost"

    play(scene)


def test_a_run_is_not_taken_over_by_a_pod_of_the_same_name() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        site.run("r", retryPolicy={"maxAttempts": 2})
        status = {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "of-another"}
        site.change("runs", "r", "status", status=status)
        await passes(2)
        assert (site.status("r")["phase"], site.status("r")["attempt"]) == ("Pending", 2)

    play(scene)


def test_an_ended_run_is_removed_after_its_time() -> None:
    async def scene(site: Site) -> None:
        await bound(site, ttlSecondsAfterFinished=30)
        await passes(TASK_SECONDS + 25)
        assert site.names("runs") == ["r"]
        await passes(10)
        assert site.names("runs") == []

    play(scene)


def test_what_others_wrote_into_the_status_survives() -> None:
    async def scene(site: Site) -> None:
        await bound(site)
        site.change("runs", "r", "status", status={"outputs": {"rows": "7"}})
        await passes(TASK_SECONDS)
        assert site.status("r")["phase"] == "Succeeded"
        assert site.status("r")["outputs"] == {"rows": "7"}

    play(scene)


@pytest.mark.parametrize("seed", range(3))
def test_a_fate_depends_on_seed_and_run_alone(seed: int) -> None:
    behaviour = Behaviour(run=(1.0, 5.0), failure_rate=0.5, seed=seed)
    fates = [behaviour.fate("default", f"r{number}", 1) for number in range(400)]
    assert [behaviour.fate("default", f"r{number}", 1) for number in reversed(range(400))] == fates[::-1]
    assert all(1.0 <= seconds <= 5.0 for seconds, _ in fates)
    assert 120 < sum(fails for _, fails in fates) < 280
    assert fates != [Behaviour(run=(1.0, 5.0), seed=seed + 9).fate("default", "r0", 1)] * 400
