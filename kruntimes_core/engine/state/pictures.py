"""One picture of each namespace: what snapshots are made of, and who is told when it changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from immutables import Map

from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace


class Changes(Protocol):
    """Who is told of each change of a value, at once."""

    def pod_changed(self, namespace: str, runtime: str) -> None:
        """A Pod of the Runtime is new, changed or gone."""

    def targets_changed(self, namespace: str, labels: LabelSet, before: Targets, after: Targets) -> None:
        """The namespace has more or fewer targets with these labels."""

    def workspace_changed(self, namespace: str, name: str) -> None:
        """A workspace is new, changed or gone."""


@dataclass(slots=True)
class Picture:
    """What is known of one namespace, in immutable values. `version` grows with each change."""

    targets: Targets = field(default_factory=Targets)
    workspaces: Map[str, Workspace] = field(default_factory=Map)
    pods: dict[str, Pods] = field(default_factory=dict)
    version: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the namespace."""
        return not (self.pods or self.workspaces or self.targets)


class Pictures:
    """All namespaces. Every change goes through here, and `changes` is told of it.

    Namespaces and Runtimes come and go, so what is empty is not kept: whatever names Runs use, those
    without Pods share one object, and versions grow over all namespaces, so that none comes twice.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._pictures: dict[str, Picture] = {}
        self._nothing = Picture()
        self._no_pods = Pods()
        self._version = 0

    def of(self, namespace: str) -> Picture:
        """The picture of one namespace, to be looked at."""
        return self._pictures.get(namespace, self._nothing)

    def __len__(self) -> int:
        return len(self._pictures)

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The picture that a cycle decides from; it costs a few references."""
        picture = self.of(namespace)
        return Snapshot(
            namespace=namespace,
            runtime=runtime,
            pods=picture.pods.get(runtime, self._no_pods),
            targets=picture.targets,
            workspaces=picture.workspaces,
            now=wall,
        )

    def pods(self, namespace: str, runtime: str) -> Pods:
        """The Pods of a Runtime in one namespace."""
        return self.of(namespace).pods.get(runtime, self._no_pods)

    def put_pod(self, namespace: str, runtime: str, name: str, pod: RuntimePod | None) -> None:
        """Set or remove a Pod of a Runtime."""
        picture = self._to_change(namespace)
        picture.pods[runtime] = picture.pods.get(runtime, self._no_pods).replacing(name, pod)
        if pod is None and not picture.pods[runtime]:
            del picture.pods[runtime]
        self._changed(namespace, picture)
        self._changes.pod_changed(namespace, runtime)

    def put_workspace(self, namespace: str, name: str, workspace: Workspace | None) -> None:
        """Set or remove a workspace."""
        picture = self._to_change(namespace)
        if workspace is not None:
            picture.workspaces = picture.workspaces.set(name, workspace)
        else:
            picture.workspaces = picture.workspaces.delete(name)
        self._changed(namespace, picture)
        self._changes.workspace_changed(namespace, name)

    def change_targets(self, namespace: str, labels: LabelSet, difference: int) -> None:
        """Add or remove targets with these labels."""
        picture = self._to_change(namespace)
        before = picture.targets
        picture.targets = before.changed_by(labels, difference)
        self._changed(namespace, picture)
        self._changes.targets_changed(namespace, labels, before, picture.targets)

    def _to_change(self, namespace: str) -> Picture:
        picture = self._pictures.get(namespace)
        if picture is None:
            picture = self._pictures[namespace] = Picture()
        return picture

    def _changed(self, namespace: str, picture: Picture) -> None:
        self._version += 1
        picture.version = self._version
        if picture.empty:
            del self._pictures[namespace]
