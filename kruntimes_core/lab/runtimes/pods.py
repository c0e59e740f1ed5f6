"""Pods, as kubelet and runtimed would keep them: started, alive by heartbeats, and ended."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime
from typing import Any

from kruntimes_core.cluster.client.resources import PODS
from kruntimes_core.engine.clock import ticks
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
from kruntimes_core.model.times import format_time

HEARTBEAT = "kruntimes.io/RuntimedReady"
_ENDED = frozenset({"Succeeded", "Failed"})
_OURS = ("PodScheduled", "Ready", HEARTBEAT)


def condition(obj: Object, kind: str) -> Object:
    """A condition of an object, empty when there is none."""
    for standing in obj.get("status", {}).get("conditions", ()):
        if standing["type"] == kind:
            return dict(standing)
    return {}


def is_ready(pod: Object) -> bool:
    """Whether a Pod takes Runs, if its heartbeat is fresh."""
    return (
        "deletionTimestamp" not in pod["metadata"]
        and pod.get("status", {}).get("phase") == "Running"
        and condition(pod, "Ready").get("status") == condition(pod, HEARTBEAT).get("status") == "True"
    )


class PodRule:
    """The next step of a Pod."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._start = ticks(behaviour.start_seconds)
        self._stop = ticks(behaviour.stop_seconds)
        self._heartbeat = ticks(behaviour.heartbeat_seconds)

    def stage(self, pod: Object) -> Hashable:
        """Each heartbeat is a stage, from which the time to the next one counts."""
        metadata, probed = pod["metadata"], condition(pod, HEARTBEAT).get("lastProbeTime")
        return metadata["uid"], is_ready(pod), "deletionTimestamp" in metadata, probed

    def step(self, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
        """End it, start it, or let it send its next heartbeat."""
        pod = seen.object
        if "deletionTimestamp" in pod["metadata"]:
            return NextRequest(seen.since + self._stop, lambda _: delete(PODS, pod, grace_seconds=0))
        if _orphaned(pod, world):
            return NextRequest(seen.since, lambda _: delete(PODS, pod))
        if pod.get("status", {}).get("phase") in _ENDED:
            return None
        wait = self._heartbeat if is_ready(pod) else self._start
        return NextRequest(seen.since + wait, lambda now: _alive(pod, now))


def _orphaned(pod: Object, world: ObjectIndex) -> bool:
    """Whether the Runtime that the Pod belongs to is gone."""
    owners = [own for own in pod["metadata"].get("ownerReferences", ()) if own["kind"] == "Runtime"]
    found = [world.runtime(pod["metadata"]["namespace"], own["name"]) for own in owners]
    return any(
        one is None or one["metadata"]["uid"] != own["uid"] for own, one in zip(owners, found, strict=True)
    )


def _alive(pod: Object, now: datetime) -> WriteRequest:
    """The Pod runs, is ready, and was heard just now."""
    moment = format_time(now)
    conditions: list[dict[str, Any]] = [
        dict(standing)
        for standing in pod.get("status", {}).get("conditions", ())
        if standing["type"] not in _OURS
    ]
    for kind in _OURS:
        standing = condition(pod, kind)
        since = standing["lastTransitionTime"] if standing.get("status") == "True" else moment
        conditions.append({**standing, "type": kind, "status": "True", "lastTransitionTime": since})
    conditions[-1]["lastProbeTime"] = moment
    status = pod.get("status", {})
    containers = status.get("containerStatuses") or [
        _running(container, moment) for container in pod["spec"]["containers"]
    ]
    return patch_status(
        PODS,
        pod,
        {
            "phase": "Running",
            "startTime": status.get("startTime", moment),
            "conditions": conditions,
            "containerStatuses": containers,
        },
    )


def _running(container: Object, moment: str) -> Object:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": moment}},
    }
