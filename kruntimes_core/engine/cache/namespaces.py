"""What is known of each namespace: snapshots are made of it, and every change of it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from immutables import Map

from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace


class CacheEventHandler(Protocol):
    """Told of each change of a value, at once; the scheduling queue is the one that listens."""

    def pod_changed(self, namespace: str, runtime: str, cause: WakeupSource) -> None:
        """A Pod of the Runtime is new, changed or gone."""

    def targets_changed(
        self, namespace: str, labels: LabelSet, before: Targets, after: Targets, cause: WakeupSource
    ) -> None:
        """The namespace has more or fewer targets with these labels."""

    def workspace_changed(self, namespace: str, name: str) -> None:
        """A workspace is new, changed or gone."""


@dataclass(slots=True)
class NamespaceInfo:
    """What is known of one namespace, in immutable values. `version` grows with each change."""

    targets: Targets = field(default_factory=Targets)
    workspaces: Map[str, Workspace] = field(default_factory=Map)
    pods: dict[str, Pods] = field(default_factory=dict)
    """By Runtime."""
    version: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the namespace."""
        return not (self.pods or self.workspaces or self.targets)


class Namespaces:
    """All namespaces. Every change of the cache goes through here, and the handler is told of it.

    Namespaces and Runtimes come and go, so what is empty is not kept: whatever names Runs use, those
    without Pods share one object, and versions grow over all namespaces, so that none comes twice.
    """

    def __init__(self, handler: CacheEventHandler) -> None:
        self._handler = handler
        self._infos: dict[str, NamespaceInfo] = {}
        self._nothing = NamespaceInfo()
        self._no_pods = Pods()
        self._version = 0

    def of(self, namespace: str) -> NamespaceInfo:
        """What is known of one namespace, to be read."""
        return self._infos.get(namespace, self._nothing)

    def __len__(self) -> int:
        return len(self._infos)

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The snapshot that a cycle decides from; it costs a few references."""
        info = self.of(namespace)
        return Snapshot(
            namespace=namespace,
            runtime=runtime,
            pods=info.pods.get(runtime, self._no_pods),
            targets=info.targets,
            workspaces=info.workspaces,
            now=wall,
        )

    def pods(self, namespace: str, runtime: str) -> Pods:
        """The Pods of a Runtime in one namespace."""
        return self.of(namespace).pods.get(runtime, self._no_pods)

    def put_pod(
        self, namespace: str, runtime: str, name: str, pod: RuntimePod | None, cause: WakeupSource
    ) -> None:
        """Set or remove a Pod of a Runtime."""
        info = self._to_change(namespace)
        info.pods[runtime] = info.pods.get(runtime, self._no_pods).replacing(name, pod)
        if pod is None and not info.pods[runtime]:
            del info.pods[runtime]
        self._changed(namespace, info)
        self._handler.pod_changed(namespace, runtime, cause)

    def put_workspace(self, namespace: str, name: str, workspace: Workspace | None) -> None:
        """Set or remove a workspace."""
        info = self._to_change(namespace)
        if workspace is not None:
            info.workspaces = info.workspaces.set(name, workspace)
        else:
            info.workspaces = info.workspaces.delete(name)
        self._changed(namespace, info)
        self._handler.workspace_changed(namespace, name)

    def change_targets(self, namespace: str, labels: LabelSet, difference: int, cause: WakeupSource) -> None:
        """Add or remove targets with these labels."""
        info = self._to_change(namespace)
        before = info.targets
        info.targets = before.changed_by(labels, difference)
        self._changed(namespace, info)
        self._handler.targets_changed(namespace, labels, before, info.targets, cause)

    def _to_change(self, namespace: str) -> NamespaceInfo:
        info = self._infos.get(namespace)
        if info is None:
            info = self._infos[namespace] = NamespaceInfo()
        return info

    def _changed(self, namespace: str, info: NamespaceInfo) -> None:
        self._version += 1
        info.version = self._version
        if info.empty:
            del self._infos[namespace]
