"""Pods, Runtimes and workspaces, as kubelet and the controllers of a cluster would keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, WORKSPACES
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.objects import (
    RUNTIMES,
    KnownObject,
    NextRequest,
    Object,
    ObjectIndex,
    WriteRequest,
    delete,
    patch_status,
)
from kruntimes_core.model.pod import RUNTIME_LABEL
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


def pod_stage(pod: Object) -> Hashable:
    """Each heartbeat is a stage, from which the time to the next one counts."""
    metadata, probed = pod["metadata"], condition(pod, HEARTBEAT).get("lastProbeTime")
    return metadata["uid"], is_ready(pod), "deletionTimestamp" in metadata, probed


def pod_step(behaviour: Behaviour, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
    """End it, start it, or let it send its next heartbeat."""
    pod = seen.object
    if "deletionTimestamp" in pod["metadata"]:
        return NextRequest(
            seen.since + ticks(behaviour.stop_seconds), lambda _: delete(PODS, pod, grace_seconds=0)
        )
    if _orphaned(pod, world):
        return NextRequest(seen.since, lambda _: delete(PODS, pod))
    if pod.get("status", {}).get("phase") in _ENDED:
        return None
    wait = behaviour.heartbeat_seconds if is_ready(pod) else behaviour.start_seconds
    return NextRequest(seen.since + ticks(wait), lambda now: _alive(pod, now))


def _orphaned(pod: Object, world: ObjectIndex) -> bool:
    """Whether the Runtime that the Pod belongs to is gone."""
    owners = [own for own in pod["metadata"].get("ownerReferences", ()) if own["kind"] == "Runtime"]
    found = [world.object(RUNTIMES, pod["metadata"]["namespace"], own["name"]) for own in owners]
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


_NODE = "simulated"


def runtime_stage(runtime: Object) -> Hashable:
    """There is only one: what is missing is missing at once."""
    return (runtime["metadata"]["uid"],)


def runtime_step(seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
    """Make a Pod that is missing, take one away that is too many, or say how many are ready."""
    runtime = seen.object
    request = _next_request(runtime, world)
    return None if request is None else NextRequest(seen.since, lambda _: request)


def _next_request(runtime: Object, world: ObjectIndex) -> WriteRequest | None:
    metadata = runtime["metadata"]
    pods = {pod["metadata"]["name"]: pod for pod in world.pods(metadata["namespace"], metadata["name"])}
    owned = {name: pod for name, pod in pods.items() if _owns(runtime, pod)}
    if "deletionTimestamp" in metadata:
        return None
    wanted = [f"{metadata['name']}-{number}" for number in range(runtime["spec"].get("replicas", 1))]
    for name in wanted:
        if world.object(PODS, metadata["namespace"], name) is None:
            return _creation(runtime, name)
    for name in sorted(set(owned) - set(wanted)):
        if "deletionTimestamp" not in owned[name]["metadata"]:
            return delete(PODS, owned[name])
    ready = sum(is_ready(pod) for pod in owned.values())
    if runtime.get("status", {}).get("readyReplicas") == ready:
        return None
    return patch_status(RUNTIMES, runtime, {"readyReplicas": ready})


def _owns(runtime: Object, pod: Object) -> bool:
    owners = pod["metadata"].get("ownerReferences", ())
    return any(owner["uid"] == runtime["metadata"]["uid"] for owner in owners)


def _creation(runtime: Object, name: str) -> WriteRequest:
    template = runtime["spec"]["template"]
    metadata = template.get("metadata", {})
    owner = {
        "apiVersion": f"{RUNTIMES.group}/{RUNTIMES.version}",
        "kind": "Runtime",
        "name": runtime["metadata"]["name"],
        "uid": runtime["metadata"]["uid"],
        "controller": True,
    }
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**metadata.get("labels", {}), RUNTIME_LABEL: runtime["metadata"]["name"]},
            "annotations": metadata.get("annotations", {}),
            "ownerReferences": [owner],
        },
        "spec": {"nodeName": _NODE, **_with_images(template["spec"])},
    }
    return WriteRequest(method="POST", resource=PODS, namespace=runtime["metadata"]["namespace"], body=body)


def _with_images(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A Runtime may leave the image to its controller, a Pod may not."""
    containers = [{"image": "simulated", **container} for container in spec["containers"]]
    return {**spec, "containers": containers}


# The Pods are followed by another watch, which may be behind.
_BEHIND = 1 * SECOND


def workspace_stage(workspace: Object) -> Hashable:
    """Its phase."""
    return workspace["metadata"]["uid"], _phase(workspace)


def workspace_step(seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
    """Bind it to a ready Pod of its Runtime, or say that its Pod is gone."""
    workspace = seen.object
    namespace = workspace["metadata"]["namespace"]
    if _phase(workspace) == "Pending":
        pod = _quietest(workspace, world)
        return None if pod is None else NextRequest(seen.since, lambda now: _bound(workspace, pod, now))
    bound_to = workspace.get("status", {}).get("boundPod", "")
    if _phase(workspace) == "Bound" and world.object(PODS, namespace, bound_to) is None:
        return NextRequest(
            seen.since + _BEHIND, lambda _: patch_status(WORKSPACES, workspace, {"phase": "Lost"})
        )
    return None


def _phase(workspace: Object) -> str:
    return str(workspace.get("status", {}).get("phase") or "Pending")


def _quietest(workspace: Object, world: ObjectIndex) -> str | None:
    """The ready Pod that the fewest workspaces lie on, then the first by name."""
    namespace = workspace["metadata"]["namespace"]
    bound = Counter(
        other["status"]["boundPod"]
        for _, other in world.objects(WORKSPACES, namespace)
        if _phase(other) == "Bound"
    )
    ready = [
        pod["metadata"]["name"]
        for pod in world.pods(namespace, workspace["spec"]["runtime"])
        if is_ready(pod)
    ]
    return min(ready, key=lambda name: (bound[name], name), default=None)


def _bound(workspace: Object, pod: str, now: datetime) -> WriteRequest:
    status = {
        "phase": "Bound",
        "boundPod": pod,
        "runtime": workspace["spec"]["runtime"],
        "path": f"/workspaces/{workspace['metadata']['name']}",
        "lastUsedTime": format_time(now),
    }
    return patch_status(WORKSPACES, workspace, status)
