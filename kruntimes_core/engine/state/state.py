"""The state of the cluster as one thing: Pods, workspaces, claims, and a picture of each namespace."""

from __future__ import annotations

from datetime import datetime

from kruntimes_core.engine.state.claims import Claim, Claims, RunKey
from kruntimes_core.engine.state.pictures import Changes, Pictures
from kruntimes_core.engine.state.pods import PodTable
from kruntimes_core.engine.state.workspaces import WorkspaceTable
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets


class State:
    """What is known. Every change of a value is told to `changes`."""

    def __init__(self, changes: Changes, heartbeat_staleness: int) -> None:
        self._pictures = Pictures(changes)
        self.claims = Claims()
        self.pods = PodTable(self._pictures, self.claims, heartbeat_staleness)
        self.workspaces = WorkspaceTable(self._pictures)

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The picture that a cycle decides from."""
        return self._pictures.snapshot(namespace, runtime, wall)

    def pods_of(self, namespace: str, runtime: str) -> Pods:
        """The Pods of a Runtime."""
        return self._pictures.pods(namespace, runtime)

    def targets(self, namespace: str) -> Targets:
        """The targets of a namespace, actual and assumed."""
        return self._pictures.of(namespace).targets

    def version(self, namespace: str) -> int:
        """A number that is another one after each change of anything in the namespace."""
        return self._pictures.of(namespace).version

    @property
    def namespaces(self) -> int:
        """How many namespaces something is known of."""
        return len(self._pictures)

    def claim(self, run: RunKey, claim: Claim | None) -> None:
        """Set what a Run holds: as observed, as assumed, or nothing."""
        for changed, sign in self.claims.replace(run, claim):
            self.pods.load_changed(changed)
            self._pictures.change_targets(changed.namespace, changed.labels, sign)
