"""Runtimes, as their controller would keep them: as many Pods as they ask for, made of their template."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from kruntimes_core.cluster.client.resources import PODS
from kruntimes_core.lab.runtimes.controllers import is_ready
from kruntimes_core.lab.runtimes.objects import (
    RUNTIME_LABEL,
    RUNTIMES,
    KnownObject,
    NextRequest,
    Object,
    ObjectIndex,
    WriteRequest,
    delete,
    patch_status,
)

_NODE = "simulated"


class RuntimeRule:
    """The next step of a Runtime."""

    def stage(self, runtime: Object) -> Hashable:
        """There is only one: what is missing is missing at once."""
        return (runtime["metadata"]["uid"],)

    def step(self, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
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
        if world.pod(metadata["namespace"], name) is None:
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
