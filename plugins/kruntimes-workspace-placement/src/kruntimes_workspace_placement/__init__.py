"""WorkspacePlacement: a Run that names a PersistentWorkspace goes to the Pod that holds it.

The rule is the API contract's "Workspace": only `boundPod`, only while the workspace is Bound, only
with the Run's own Runtime. Anything else is waited for, and never a failure of the Run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from kruntimes_core import Reject, RuntimePod, Workspace, WorkspacePhase, hookimpl

_REASONS = MappingProxyType(
    {
        "WorkspaceMissing": "its persistent workspace to be created",
        "WorkspacePending": "its persistent workspace to be bound to a runtime pod",
        "WorkspaceLost": "its persistent workspace, which is lost, to be bound again",
        "WorkspaceReleased": "its persistent workspace, which is released, to be bound again",
        "WorkspaceUnknown": "its persistent workspace, whose phase is not known here, to be bound",
        "WorkspaceRuntimeMismatch": 'a persistent workspace of runtime "{runtime}"',
        "WorkspaceOnOtherPod": "the runtime pod that its persistent workspace is bound to",
    }
)

_UNUSABLE = MappingProxyType(
    {
        WorkspacePhase.MISSING: Reject("WorkspaceMissing"),
        WorkspacePhase.PENDING: Reject("WorkspacePending"),
        WorkspacePhase.LOST: Reject("WorkspaceLost"),
        WorkspacePhase.RELEASED: Reject("WorkspaceReleased"),
        WorkspacePhase.UNKNOWN: Reject("WorkspaceUnknown"),
    }
)
_MISMATCH = Reject("WorkspaceRuntimeMismatch")
_OTHER_POD = Reject("WorkspaceOnOtherPod", pinned_elsewhere=True)


@dataclass(frozen=True, slots=True)
class Placement:
    """What matters of a workspace here. Not its name: workspaces on one Pod make equal Runs."""

    phase: WorkspacePhase
    runtime: str
    bound_pod: str | None


class WorkspacePlacement:
    """The filter, third of the supplied ones."""

    host_api: ClassVar[str] = ">=1,<2"
    reasons: ClassVar[Mapping[str, str]] = _REASONS

    @hookimpl
    def prefilter(self, workspace: Workspace | None) -> Placement | None:
        """Where the workspace stands; None for a Run that names none."""
        if workspace is None:
            return None
        return Placement(workspace.phase, workspace.runtime, workspace.bound_pod)

    @hookimpl
    def filter(self, pod: RuntimePod, state: Placement | None) -> Reject | None:
        """None on the workspace's Pod, and for Runs without a workspace; else what is missing.

        `pod.runtime` is the Run's Runtime: a Run is offered the Pods of its Runtime only. A mismatch comes
        before the phase, for no change of phase would help.
        """
        if state is None:
            return None
        if state.phase is WorkspacePhase.MISSING:
            return _UNUSABLE[WorkspacePhase.MISSING]
        if state.runtime != pod.runtime:
            return _MISMATCH
        if state.phase is not WorkspacePhase.BOUND:
            return _UNUSABLE[state.phase]
        if state.bound_pod is None:
            return _UNUSABLE[WorkspacePhase.PENDING]
        return None if state.bound_pod == pod.name else _OTHER_POD
