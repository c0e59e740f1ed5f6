"""PersistentWorkspaces: the values that plugins see, and their observations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WorkspacePhase(StrEnum):
    """`status.phase` of a PersistentWorkspace.

    UNKNOWN stands for a phase of a later API version. MISSING is not a phase of the API: the host gives
    it to a workspace that a Run names and that does not exist (its runtime is then empty), so that a
    plugin can tell "names none" from "does not exist" without a look at the Run.
    """

    PENDING = "Pending"
    BOUND = "Bound"
    LOST = "Lost"
    RELEASED = "Released"
    UNKNOWN = "?"
    MISSING = "Missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One PersistentWorkspace; `bound_pod` is a name and means the Pod that has this name now."""

    namespace: str
    name: str
    uid: str = ""
    runtime: str
    mode: str = "RuntimePodLocal"
    phase: WorkspacePhase = WorkspacePhase.PENDING
    bound_pod: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceObservation:
    """One version of a PersistentWorkspace object."""

    workspace: Workspace
    version: str = ""
