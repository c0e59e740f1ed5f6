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
    """What is known of one namespace, in immutable values. `version` counts the changes."""

    targets: Targets = field(default_factory=Targets)
    workspaces: Map[str, Workspace] = field(default_factory=Map)
    pods: dict[str, Pods] = field(default_factory=dict)
    no_pods: Pods = field(default_factory=Pods)
    version: int = 0

    def of_runtime(self, runtime: str) -> Pods:
        """The Pods of one Runtime. Whatever Runtimes the Runs name, those without Pods share one object."""
        return self.pods.get(runtime, self.no_pods)


class Pictures:
    """All namespaces. Every change goes through here, and `changes` is told of it."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._pictures: dict[str, Picture] = {}

    def of(self, namespace: str) -> Picture:
        """The picture of one namespace."""
        picture = self._pictures.get(namespace)
        if picture is None:
            picture = self._pictures[namespace] = Picture()
        return picture

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The picture that a cycle decides from; it costs a few references."""
        picture = self.of(namespace)
        return Snapshot(
            namespace=namespace,
            runtime=runtime,
            pods=picture.of_runtime(runtime),
            targets=picture.targets,
            workspaces=picture.workspaces,
            now=wall,
        )

    def put_pod(self, namespace: str, runtime: str, name: str, pod: RuntimePod | None) -> None:
        """Set or remove a Pod of a Runtime."""
        picture = self.of(namespace)
        picture.pods[runtime] = picture.of_runtime(runtime).replacing(name, pod)
        picture.version += 1
        self._changes.pod_changed(namespace, runtime)

    def put_workspace(self, namespace: str, name: str, workspace: Workspace | None) -> None:
        """Set or remove a workspace."""
        picture = self.of(namespace)
        if workspace is not None:
            picture.workspaces = picture.workspaces.set(name, workspace)
        else:
            picture.workspaces = picture.workspaces.delete(name)
        picture.version += 1
        self._changes.workspace_changed(namespace, name)

    def change_targets(self, namespace: str, labels: LabelSet, difference: int) -> None:
        """Add or remove targets with these labels."""
        picture = self.of(namespace)
        before = picture.targets
        picture.targets = before.changed_by(labels, difference)
        picture.version += 1
        self._changes.targets_changed(namespace, labels, before, picture.targets)
