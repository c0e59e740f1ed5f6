"""PersistentWorkspaces, as their controller would keep them: bound to a Pod, and lost with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from datetime import datetime

from kruntimes_core.cluster.client.resources import WORKSPACES
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.lab.runtimes.controllers import is_ready
from kruntimes_core.lab.runtimes.objects import (
    KnownObject,
    NextRequest,
    Object,
    ObjectIndex,
    WriteRequest,
    patch_status,
)
from kruntimes_core.model.times import format_time

# The Pods are followed by another watch, which may be behind.
_BEHIND = 1 * SECOND


class WorkspaceRule:
    """The next step of a PersistentWorkspace."""

    def stage(self, workspace: Object) -> Hashable:
        """Its phase."""
        return workspace["metadata"]["uid"], _phase(workspace)

    def step(self, seen: KnownObject, world: ObjectIndex) -> NextRequest | None:
        """Bind it to a ready Pod of its Runtime, or say that its Pod is gone."""
        workspace = seen.object
        namespace = workspace["metadata"]["namespace"]
        if _phase(workspace) == "Pending":
            pod = _quietest(workspace, world)
            return None if pod is None else NextRequest(seen.since, lambda now: _bound(workspace, pod, now))
        if _phase(workspace) == "Bound" and world.pod(namespace, workspace["status"]["boundPod"]) is None:
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
