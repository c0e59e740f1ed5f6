"""Short ways to change what a server holds, as users, runtimed and the platform would."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness.object_tracker import PODS, RUNS, WORKSPACES, ObjectTracker
from kruntimes_core.testing.objects import Object, pod_object, run_object, time_text, workspace_object


class World:
    """The objects of one server, and the wall clock that is stamped on them."""

    def __init__(self, server: ObjectTracker) -> None:
        self.server = server
        self._wall = NOW
        self._beating: set[tuple[str, str]] = set()

    def pod(self, name: str = "py-0", *, runs: int | str = 1, beating: bool = True, **fields: Any) -> Object:
        """Create a Runtime Pod with room for `runs` Runs, alive now. fields: of `pod_object`."""
        capacity = {"runs": str(runs), **fields.pop("capacity", {})}
        fields.setdefault("probed_at", self._wall)
        made = self.server.create(pod_object(name, capacity=capacity, **fields))
        if beating:
            self._beating.add((made["metadata"]["namespace"], name))
        return made

    def run(self, name: str, **fields: Any) -> Object:
        """Create a Run; on a Pod when `pod` is given. fields: of `run_object`."""
        return self.server.create(run_object(name, **fields))

    def workspace(self, name: str = "ws", **fields: Any) -> Object:
        """Create a PersistentWorkspace, or change the one of that name. fields: of `workspace_object`."""
        fields.setdefault("uid", f"uid-{name}")
        if self.server.exists(WORKSPACES, fields.get("namespace", NAMESPACE), name):
            made = workspace_object(name, **fields)
            return self.server.change(
                WORKSPACES, made["metadata"]["namespace"], name, {"status": made["status"]}
            )
        return self.server.create(workspace_object(name, **fields))

    def silence(self, name: str, namespace: str = NAMESPACE) -> None:
        """Send no heartbeat of a Pod any more."""
        self._beating.discard((namespace, name))

    def beat(self, name: str, namespace: str = NAMESPACE, probed_at: datetime | None = None) -> None:
        """A heartbeat of a Pod: probed now unless given."""
        conditions = self.server.get(PODS, namespace, name)["status"]["conditions"]
        text = time_text(probed_at or self._wall)
        beaten = [c | {"lastProbeTime": text} if c["type"].startswith("kruntimes") else c for c in conditions]
        self.server.change(PODS, namespace, name, {"status": {"conditions": beaten}})

    def ready(self, name: str, ready: bool, namespace: str = NAMESPACE) -> None:
        """Make a Pod Ready, or not."""
        conditions = self.server.get(PODS, namespace, name)["status"]["conditions"]
        told = [c | {"status": str(ready)} if c["type"] == "Ready" else c for c in conditions]
        self.server.change(PODS, namespace, name, {"status": {"conditions": told}})

    def change(self, name: str, namespace: str = NAMESPACE, /, **patch: Any) -> None:
        """Change a Run by a merge patch of its `metadata`, `spec` or `status`."""
        self.server.change(RUNS, namespace, name, patch)

    def end(self, name: str, namespace: str = NAMESPACE, phase: str = "Succeeded") -> None:
        """Let a Run end."""
        self.change(name, namespace, status={"phase": phase, "completionTime": time_text(self._wall)})

    def delete(self, name: str, namespace: str = NAMESPACE, kind: str = RUNS) -> None:
        """Delete an object; a Run unless said otherwise."""
        self.server.delete(kind, namespace, name)
        if kind == PODS:
            self.silence(name, namespace)

    def status(self, name: str, namespace: str = NAMESPACE) -> Mapping[str, Any]:
        """The status of a Run as the server has it."""
        status: Mapping[str, Any] = self.server.get(RUNS, namespace, name)["status"]
        return status

    def pod_of(self, name: str, namespace: str = NAMESPACE) -> str | None:
        """The Pod that a Run is assigned to at the server."""
        pod: str | None = self.status(name, namespace).get("assignedPod")
        return pod

    def beat_all(self) -> None:
        """A heartbeat of every Pod that is not silent."""
        for namespace, name in sorted(self._beating):
            self.beat(name, namespace)
