"""Runs, as runtimed would execute them: started where they are bound, and ended one way or another.

The status patches are those of the API contract.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import partial
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.objects import (
    KnownObject,
    NextRequest,
    Object,
    ObjectIndex,
    WriteRequest,
    delete,
    patch_status,
)
from kruntimes_core.model.run import ACTIVE_PHASES, TERMINAL_PHASES
from kruntimes_core.model.status_patches import condition, with_conditions
from kruntimes_core.model.times import format_time, parse_duration

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


# The Pods are followed by another watch, which may be behind.
_BEHIND = 1 * SECOND


def run_stage(run: Object) -> Hashable:
    """Its phase, attempt and Pod."""
    status = run.get("status", {})
    return run["metadata"]["uid"], status.get("phase"), attempt(run), status.get("assignedPodUID")


def run_step(behaviour: Behaviour, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
    """Start it, end it, or remove it when it has been over for long enough."""
    run = seen.object
    phase = run.get("status", {}).get("phase")
    if phase in TERMINAL_PHASES:
        return _removal(seen)
    if phase not in ACTIVE_PHASES:
        return None
    if run["spec"].get("cancelRequested") or "deletionTimestamp" in run["metadata"]:
        return NextRequest(seen.since, partial(cancelled, run))
    if not _has_pod(run, world):
        return NextRequest(seen.since + _BEHIND, partial(failed, run, *POD_LOST))
    if phase == "Scheduled":
        return NextRequest(seen.since, partial(started, run))
    return _end(behaviour, seen)


def _end(behaviour: Behaviour, seen: KnownObject) -> NextRequest | None:
    """How a Run that was started ends if nobody cancels it."""
    run = seen.object
    function = run["spec"]["mode"].get("function")
    if function is not None:
        # Nobody calls a simulated function, so it is idle from the beginning.
        return _after(seen, function.get("idleTimeoutSeconds"), succeeded)
    metadata = run["metadata"]
    seconds, fails = behaviour.fate(metadata["namespace"], metadata["name"], attempt(run))
    timeout = parse_duration(run["spec"].get("timeout"))
    if timeout is not None and 0 < timeout < seconds:
        return NextRequest(seen.since + ticks(timeout), partial(timed_out, run))
    if fails:
        return NextRequest(seen.since + ticks(seconds), partial(failed, run, *TASK_FAILED))
    return _after(seen, seconds, succeeded)


def _after(seen: KnownObject, seconds: float | None, ending: Ending) -> NextRequest | None:
    if seconds is None:
        return None
    return NextRequest(seen.since + ticks(seconds), partial(ending, seen.object))


def _removal(seen: KnownObject) -> NextRequest | None:
    """`ttlSecondsAfterFinished`, as the Run controller keeps it."""
    seconds = seen.object["spec"].get("ttlSecondsAfterFinished")
    return _after(seen, seconds, lambda run, _: delete(RUNS, run))


def _has_pod(run: Object, world: ObjectIndex) -> bool:
    """Whether the very Pod that the Run was bound to is still there."""
    status = run["status"]
    pod = world.object(PODS, run["metadata"]["namespace"], status.get("assignedPod", ""))
    return pod is not None and status.get("assignedPodUID") in (None, pod["metadata"]["uid"])
