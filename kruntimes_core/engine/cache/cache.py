"""What is known of the cluster as one thing: Pods, workspaces, allocations, and snapshots of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kruntimes_core.engine.cache.allocations import Allocation, Allocations, RunKey
from kruntimes_core.engine.cache.namespaces import CacheEventHandler, Namespaces
from kruntimes_core.engine.cache.pods import PodCache
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.model.metadata import newer_than_list, older
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace, WorkspaceObservation


class Cache:
    """Immutable values, replaced when they change. Every change is told to the handler."""

    def __init__(self, handler: CacheEventHandler, heartbeat_staleness: int) -> None:
        self._namespaces = Namespaces(handler)
        self._allocations = Allocations()
        self.pods = PodCache(self._namespaces, self._allocations, heartbeat_staleness)
        self.workspaces = WorkspaceCache(self._namespaces)

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The snapshot that a cycle decides from."""
        return self._namespaces.snapshot(namespace, runtime, wall)

    def pods_of(self, namespace: str, runtime: str) -> Pods:
        """The Pods of a Runtime."""
        return self._namespaces.pods(namespace, runtime)

    def targets(self, namespace: str) -> Targets:
        """The targets of a namespace, actual and assumed."""
        return self._namespaces.of(namespace).targets

    def version(self, namespace: str) -> int:
        """A number that is another one after each change of anything in the namespace."""
        return self._namespaces.of(namespace).version

    @property
    def namespaces(self) -> int:
        """How many namespaces something is known of."""
        return len(self._namespaces)

    @property
    def allocations(self) -> int:
        """How many Runs hold room on a Pod."""
        return len(self._allocations)

    def allocate(self, run: RunKey, allocation: Allocation | None, cause: WakeupSource) -> None:
        """Set what a Run holds: as observed, as assumed, or nothing. cause: what wakes others by it."""
        for changed, sign in self._allocations.replace(run, allocation):
            self.pods.allocation_changed(changed, cause)
            self._namespaces.change_targets(changed.namespace, changed.labels, sign, cause)


class WorkspaceCache:
    """All known PersistentWorkspaces, and the versions in which they were seen."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._versions: dict[tuple[str, str], str] = {}

    def get(self, namespace: str, name: str) -> Workspace | None:
        """A workspace as it is now."""
        return self._namespaces.of(namespace).workspaces.get(name)

    def observe(self, observation: WorkspaceObservation) -> None:
        """A workspace was seen; an observation older than the last one is ignored."""
        workspace = observation.workspace
        key = (workspace.namespace, workspace.name)
        if older(observation.version, self._versions.get(key, "")):
            return
        self._versions[key] = observation.version
        if self.get(*key) != workspace:
            self._namespaces.put_workspace(*key, workspace)

    def gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A workspace was deleted; its successor of the same name is not touched by it."""
        known = self.get(namespace, name)
        if known is None or (uid and known.uid and known.uid != uid):
            return
        if version and older(version, self._versions.get((namespace, name), "")):
            return
        del self._versions[namespace, name]
        self._namespaces.put_workspace(namespace, name, None)

    def listed(
        self, observations: Iterable[WorkspaceObservation], version: str, namespace: str | None
    ) -> None:
        """A whole list was seen: those that are missing in it are gone."""
        present = set()
        for observation in observations:
            present.add((observation.workspace.namespace, observation.workspace.name))
            self.observe(observation)
        for key in [key for key in self._versions if namespace in (None, key[0]) and key not in present]:
            if not newer_than_list(self._versions[key], version):
                self.gone(*key, "")
