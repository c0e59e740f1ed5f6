"""The cache of the cluster: what is known of each namespace, snapshots of it, and who is told of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from immutables import Map

from kruntimes_core.engine.cache.pods import Allocation, Allocations, PodCache, RunKey
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.model.metadata import newer_than_list, older
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace, WorkspaceObservation


class CacheEventHandler(Protocol):
    """Told of each change of a value, at once. The scheduling queue implements it."""

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


class Cache:
    """Immutable values by namespace, replaced when they change. Every change is told to the handler.

    Namespaces and Runtimes come and go, so what is empty is not kept; those without Pods share one object.
    Versions grow over all namespaces, so that no version comes twice.
    """

    def __init__(self, handler: CacheEventHandler, heartbeat_staleness: int) -> None:
        self._handler = handler
        self._infos: defaultdict[str, NamespaceInfo] = defaultdict(NamespaceInfo)
        self._nothing = NamespaceInfo()
        self._no_pods = Pods()
        self._version = 0
        self._allocations = Allocations()
        self.pods = PodCache(self._put_pod, self._allocations, heartbeat_staleness)
        self.workspaces = WorkspaceCache(self._put_workspace)

    # Reading

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The snapshot that a cycle decides from; it costs a few references."""
        info = self._of(namespace)
        return Snapshot(
            namespace=namespace,
            runtime=runtime,
            pods=info.pods.get(runtime, self._no_pods),
            targets=info.targets,
            workspaces=info.workspaces,
            now=wall,
        )

    def pods_of(self, namespace: str, runtime: str) -> Pods:
        """The Pods of a Runtime in one namespace."""
        return self._of(namespace).pods.get(runtime, self._no_pods)

    def workspace(self, namespace: str, name: str) -> Workspace | None:
        """A workspace as it is now."""
        return self._of(namespace).workspaces.get(name)

    def targets(self, namespace: str) -> Targets:
        """The targets of a namespace, actual and assumed."""
        return self._of(namespace).targets

    def version(self, namespace: str) -> int:
        """A number that grows with each change of anything in the namespace."""
        return self._infos.get(namespace, self._nothing).version

    @property
    def namespaces(self) -> int:
        """How many namespaces something is known of."""
        return len(self._infos)

    @property
    def allocations(self) -> int:
        """How many Runs hold room on a Pod."""
        return len(self._allocations)

    # Changing

    def allocate(self, run: RunKey, allocation: Allocation | None, cause: WakeupSource) -> None:
        """Set what a Run holds: as observed, as assumed, or nothing. cause: what wakes others by it."""
        for changed, sign in self._allocations.replace(run, allocation):
            self.pods.allocation_changed(changed, cause)
            self._change_targets(changed.namespace, changed.labels, sign, cause)

    def _put_pod(
        self, namespace: str, runtime: str, name: str, pod: RuntimePod | None, cause: WakeupSource
    ) -> None:
        info = self._infos[namespace]
        info.pods[runtime] = info.pods.get(runtime, self._no_pods).replacing(name, pod)
        if pod is None and not info.pods[runtime]:
            del info.pods[runtime]
        self._changed(namespace, info)
        self._handler.pod_changed(namespace, runtime, cause)

    def _put_workspace(self, namespace: str, name: str, workspace: Workspace | None) -> None:
        info = self._infos[namespace]
        if workspace is not None:
            info.workspaces = info.workspaces.set(name, workspace)
        else:
            info.workspaces = info.workspaces.delete(name)
        self._changed(namespace, info)
        self._handler.workspace_changed(namespace, name)

    def _change_targets(self, namespace: str, labels: LabelSet, difference: int, cause: WakeupSource) -> None:
        info = self._infos[namespace]
        before = info.targets
        info.targets = before.changed_by(labels, difference)
        self._changed(namespace, info)
        self._handler.targets_changed(namespace, labels, before, info.targets, cause)

    def _of(self, namespace: str) -> NamespaceInfo:
        """What is known of one namespace, to be read: that makes no entry."""
        return self._infos.get(namespace, self._nothing)

    def _changed(self, namespace: str, info: NamespaceInfo) -> None:
        self._version += 1
        info.version = self._version
        if info.empty:
            del self._infos[namespace]


class WorkspaceCache:
    """All known PersistentWorkspaces, and the versions in which they were seen."""

    def __init__(self, publish: Callable[[str, str, Workspace | None], None]) -> None:
        """publish: called with namespace, name and each new value; None when it is gone."""
        self._publish = publish
        self._known: dict[tuple[str, str], WorkspaceObservation] = {}

    def observe(self, observation: WorkspaceObservation) -> None:
        """A workspace was seen; an observation older than the last one is ignored."""
        workspace = observation.workspace
        key = (workspace.namespace, workspace.name)
        known = self._known.get(key)
        if known is not None and older(observation.version, known.version):
            return
        self._known[key] = observation
        if known is None or known.workspace != workspace:
            self._publish(*key, workspace)

    def gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A workspace was deleted; its successor of the same name is not touched by it."""
        known = self._known.get((namespace, name))
        if known is None or (uid and known.workspace.uid and known.workspace.uid != uid):
            return
        if not (version and older(version, known.version)):
            del self._known[namespace, name]
            self._publish(namespace, name, None)

    def listed(
        self, observations: Iterable[WorkspaceObservation], version: str, namespace: str | None
    ) -> None:
        """A whole list was seen: those that are missing in it are gone."""
        present = set()
        for observation in observations:
            present.add((observation.workspace.namespace, observation.workspace.name))
            self.observe(observation)
        for key in [key for key in self._known if namespace in (None, key[0]) and key not in present]:
            if not newer_than_list(self._known[key].version, version):
                self.gone(*key, "")
