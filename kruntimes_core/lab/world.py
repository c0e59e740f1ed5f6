"""What a set of manifests describes: the objects that a plan starts from, and the time to judge them at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Runs, Runtime Pods and PersistentWorkspaces as one list of the API server would show them."""

    runs: tuple[RunObservation, ...] = ()
    pods: tuple[PodObservation, ...] = ()
    workspaces: tuple[WorkspaceObservation, ...] = ()
    newest_probe: datetime | None = None
    """The newest lastProbeTime of a Runtime Pod: the moment at which a dump was taken, nearly."""
    newest_creation: datetime | None = None
    """The newest creationTimestamp of an object that counts."""
    invented_uids: frozenset[str] = frozenset()
    """The uids that stand for a missing `metadata.uid` (hand-written files); never to be shown."""

    @property
    def observed_at(self) -> datetime | None:
        """The time to judge heartbeats and delays at; None when no object tells one."""
        return self.newest_probe or self.newest_creation
