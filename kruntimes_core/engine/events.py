"""What happens outside, as the driver tells it to the engine."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation


@dataclass(frozen=True, slots=True)
class RunObserved:
    """A Run was added or modified."""

    observation: RunObservation


@dataclass(frozen=True, slots=True)
class PodObserved:
    """A Runtime Pod was added or modified."""

    observation: PodObservation


@dataclass(frozen=True, slots=True)
class WorkspaceObserved:
    """A PersistentWorkspace was added or modified."""

    observation: WorkspaceObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    namespace: str
    name: str
    uid: str
    version: str = ""
    """resourceVersion of the deletion; empty when it was concluded and not observed."""


class RunGone(_Gone):
    """A Run was deleted."""


class PodGone(_Gone):
    """A Pod was deleted, or is not a Runtime Pod any more."""


class WorkspaceGone(_Gone):
    """A PersistentWorkspace was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    version: str = ""
    """resourceVersion of the list; what is known in a newer version is left alone."""
    namespace: str | None = None
    """The namespace that was listed, or None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsListed(_Listed):
    """A whole consistent list of Runs: what is known and not in it has vanished."""

    observations: tuple[RunObservation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsListed(_Listed):
    """A whole consistent list of Runtime Pods."""

    observations: tuple[PodObservation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacesListed(_Listed):
    """A whole consistent list of PersistentWorkspaces."""

    observations: tuple[WorkspaceObservation, ...]


Event = (
    RunObserved
    | RunGone
    | RunsListed
    | PodObserved
    | PodGone
    | PodsListed
    | WorkspaceObserved
    | WorkspaceGone
    | WorkspacesListed
)
