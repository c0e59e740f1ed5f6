"""Runs, as runtimed would execute them: started where they are bound, and ended one way or another."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.lab.runtimes import runtimed
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.objects import KnownObject, NextRequest, Object, ObjectIndex, delete
from kruntimes_core.model.run import ACTIVE_PHASES, TERMINAL_PHASES
from kruntimes_core.model.times import parse_duration

# The Pods are followed by another watch, which may be behind.
_BEHIND = 1 * SECOND


class RunRule:
    """The next step of a Run."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour

    def stage(self, run: Object) -> Hashable:
        """Its phase, attempt and Pod."""
        status = run.get("status", {})
        return (
            run["metadata"]["uid"],
            status.get("phase"),
            runtimed.attempt(run),
            status.get("assignedPodUID"),
        )

    def step(self, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
        """Start it, end it, or remove it when it has been over for long enough."""
        run = seen.object
        phase = run.get("status", {}).get("phase")
        if phase in TERMINAL_PHASES:
            return _removal(seen)
        if phase not in ACTIVE_PHASES:
            return None
        if run["spec"].get("cancelRequested") or "deletionTimestamp" in run["metadata"]:
            return NextRequest(seen.since, partial(runtimed.cancelled, run))
        if not _has_pod(run, world):
            return NextRequest(seen.since + _BEHIND, partial(runtimed.failed, run, *runtimed.POD_LOST))
        if phase == "Scheduled":
            return NextRequest(seen.since, partial(runtimed.started, run))
        return self._end(seen)

    def _end(self, seen: KnownObject) -> NextRequest | None:
        """How a Run that was started ends if nobody cancels it."""
        run = seen.object
        function = run["spec"]["mode"].get("function")
        if function is not None:
            # Nobody calls a simulated function, so it is idle from the beginning.
            return _after(seen, function.get("idleTimeoutSeconds"), runtimed.succeeded)
        metadata = run["metadata"]
        fate = self._behaviour.fate(metadata["namespace"], metadata["name"], runtimed.attempt(run))
        timeout = parse_duration(run["spec"].get("timeout"))
        if timeout is not None and 0 < timeout < fate.seconds:
            return NextRequest(seen.since + ticks(timeout), partial(runtimed.timed_out, run))
        if fate.fails:
            return NextRequest(
                seen.since + ticks(fate.seconds), partial(runtimed.failed, run, *runtimed.TASK_FAILED)
            )
        return _after(seen, fate.seconds, runtimed.succeeded)


def _after(seen: KnownObject, seconds: float | None, ending: runtimed.Ending) -> NextRequest | None:
    if seconds is None:
        return None
    return NextRequest(seen.since + ticks(seconds), partial(ending, seen.object))


def _removal(seen: KnownObject) -> NextRequest | None:
    """`ttlSecondsAfterFinished`, as the Run controller keeps it."""
    seconds = seen.object["spec"].get("ttlSecondsAfterFinished")

    if seconds is None:
        return None
    return NextRequest(seen.since + ticks(seconds), lambda _: delete(RUNS, seen.object))


def _has_pod(run: Object, world: ObjectIndex) -> bool:
    """Whether the very Pod that the Run was bound to is still there."""
    status = run["status"]
    pod = world.pod(run["metadata"]["namespace"], status.get("assignedPod", ""))
    return pod is not None and status.get("assignedPodUID") in (None, pod["metadata"]["uid"])
