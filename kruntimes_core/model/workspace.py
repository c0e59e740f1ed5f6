"""PersistentWorkspaces: the values that plugins see, their observations, and their decoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.model.fields import DecodeError, is_subdomain, members, optional_members, text
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.validation import check_optional_text, check_text, member


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

    def __post_init__(self) -> None:
        """Take a phase by its text too. Raises: `TypeError`, `ValueError` for another phase."""
        for name in ("namespace", "name", "uid", "runtime", "mode"):
            check_text(f"Workspace.{name}", getattr(self, name))
        object.__setattr__(self, "phase", member("Workspace.phase", self.phase, WorkspacePhase))
        check_optional_text("Workspace.bound_pod", self.bound_pod)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceObservation:
    """One version of a PersistentWorkspace object."""

    workspace: Workspace
    version: str = ""


_KIND = "PersistentWorkspace"
_API_GROUP = "kruntimes.io/v1alpha1"
_DEFAULT_MODE = "RuntimePodLocal"
_PHASES = {phase.value: phase for phase in WorkspacePhase}


def decode_workspace(obj: Mapping[str, object]) -> WorkspaceObservation:
    """One version of a PersistentWorkspace; a field of a wrong type reads as empty or unknown."""
    metadata, spec, status = (members(members(obj).get(part)) for part in ("metadata", "spec", "status"))
    workspace = Workspace(
        namespace=text(metadata.get("namespace")),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        runtime=text(spec.get("runtime")),
        mode=_mode(spec.get("mode")),
        phase=_phase(status.get("phase")),
        bound_pod=text(status.get("boundPod")) or None,
    )
    return WorkspaceObservation(workspace=workspace, version=text(metadata.get("resourceVersion")))


def _mode(value: object) -> str:
    return _DEFAULT_MODE if value in (None, "") else text(value)


def _phase(value: object) -> WorkspacePhase:
    if value in (None, ""):
        return WorkspacePhase.PENDING
    return _PHASES.get(text(value), WorkspacePhase.UNKNOWN)


def workspace_name(value: object) -> str | None:
    """The name in `spec.workspace` of a Run; None when the field is absent.

    Raises `DecodeError` for another kind or group, and for a name that no object can have.
    """
    if value is None:
        return None
    path = "spec.workspace"
    fields = optional_members(value, path)
    _check_only(fields, "kind", _KIND, path)
    _check_only(fields, "apiGroup", _API_GROUP, path)
    name = fields.get("name")
    if not isinstance(name, str) or not is_subdomain(name):
        raise DecodeError(
            f"{path}.name", f"{quoted(name)} is not a name: write that of a PersistentWorkspace"
        )
    return name


def _check_only(fields: Mapping[str, object], field: str, supported: str, path: str) -> None:
    given = fields.get(field)
    if given not in (None, "", supported):
        problem = f"{quoted(given)} is not supported: write {supported} or leave it out"
        raise DecodeError(f"{path}.{field}", problem, unreadable=not isinstance(given, str))
