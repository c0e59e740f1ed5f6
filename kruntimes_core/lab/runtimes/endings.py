"""The status patches of a Run that somebody executes, from its start to each of its ends (API contract)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.runtimes.objects import Object, WriteRequest, patch_status
from kruntimes_core.model.status_patches import condition, with_conditions
from kruntimes_core.model.times import format_time

Ending = Callable[[Object, datetime], WriteRequest]

TASK_FAILED = ("TaskFailed", "the simulated task failed")
POD_LOST = ("RuntimePodLost", "the runtime pod of this run is gone")
_TIMEOUT = ("Timeout", "the run took longer than its timeout")
_CANCELLED = ("Cancelled", "the run was cancelled on request")


def started(run: Object, now: datetime) -> WriteRequest:
    """A task is Running; a function is Ready."""
    kind, reason = ("Ready", "FunctionReady") if "function" in run["spec"]["mode"] else ("Running", "Started")
    text = f"{kind.lower()} on runtime pod {run['status']['assignedPod']}"
    changes = {"phase": kind, "startTime": format_time(now)}
    return _patch(run, now, changes, (kind, "True", reason, text))


def succeeded(run: Object, now: datetime) -> WriteRequest:
    """The Run did what it was for."""
    return _ended(run, now, "Succeeded", "Succeeded", "the run has succeeded", "True")


def cancelled(run: Object, now: datetime) -> WriteRequest:
    """Somebody asked for it."""
    return _ended(run, now, "Cancelled", *_CANCELLED)


def timed_out(run: Object, now: datetime) -> WriteRequest:
    """The Run was stopped at its own limit."""
    if _is_retried(run, _TIMEOUT[0]):
        return _requeued(run, now, *_TIMEOUT)
    return _ended(run, now, "Timeout", *_TIMEOUT)


def failed(run: Object, reason: str, text: str, now: datetime) -> WriteRequest:
    """The attempt failed: the next one waits for its turn, if the retry policy gives one."""
    if _is_retried(run, reason):
        return _requeued(run, now, reason, text)
    return _ended(run, now, "Failed", reason, text)


def _is_retried(run: Object, reason: str) -> bool:
    policy = run["spec"].get("retryPolicy", {})
    reasons = policy.get("retryableReasons") or [reason]
    return attempt(run) < policy.get("maxAttempts", 1) and reason in reasons


def attempt(run: Object) -> int:
    """The number of the attempt that stands, from 1 on."""
    return int(run.get("status", {}).get("attempt") or 1)


def _requeued(run: Object, now: datetime, reason: str, text: str) -> WriteRequest:
    """Pending again, without a Pod; the retry delay counts from when the condition Running became False."""
    number = attempt(run)
    changes = {
        "phase": "Pending",
        "attempt": number + 1,
        "assignedPod": None,
        "assignedPodUID": None,
        "message": f"attempt {number} of {run['spec']['retryPolicy']['maxAttempts']}: {text}",
    }
    # Stated anew even if it stood: a Run that fails before it starts waits from its failure on.
    standing = [one for one in _conditions(run) if one["type"] != "Running"]
    conditions = with_conditions(
        standing, [condition(kind, "False", reason, text, now) for kind in ("Running", "Scheduled")]
    )
    return patch_status(RUNS, run, {**changes, "conditions": conditions})


def _ended(
    run: Object, now: datetime, phase: str, reason: str, text: str, completed: str = "False"
) -> WriteRequest:
    stopped = ["Running", "Ready"] if "function" in run["spec"]["mode"] else ["Running"]
    return _patch(
        run,
        now,
        {"phase": phase, "message": text, "completionTime": format_time(now)},
        *((kind, "False", reason, text) for kind in stopped),
        ("Completed", completed, reason, text),
    )


def _patch(
    run: Object, now: datetime, changes: dict[str, Any], *wanted: tuple[str, str, str, str]
) -> WriteRequest:
    conditions = with_conditions(_conditions(run), [condition(*one, now) for one in wanted])
    return patch_status(RUNS, run, {**changes, "conditions": conditions})


def _conditions(run: Object) -> list[Any]:
    return list(run["status"].get("conditions", ()))
