"""Runs: what plugins see of one, and the observation of its object that only the host needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.selectors import Affinity, LabelSet


class Phase(StrEnum):
    """`status.phase` of a Run (API contract). UNKNOWN stands for a phase of a later API version."""

    PENDING = "Pending"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    READY = "Ready"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMEOUT = "Timeout"
    CANCELLED = "Cancelled"
    UNKNOWN = "?"


ACTIVE_PHASES = frozenset({Phase.SCHEDULED, Phase.RUNNING, Phase.READY})
TERMINAL_PHASES = frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.TIMEOUT, Phase.CANCELLED})


class Request(FrozenMap[str, int]):
    """A complete logical request: resource name to a positive integer; `runs` is always there."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution to be placed, as plugins see it.

    Status texts, conditions and versions are not part of it: they change without changing what the
    Run asks for, and a plugin's result for a Run holds until the Run changes.
    """

    namespace: str
    name: str
    uid: str
    runtime: str
    labels: LabelSet = field(default_factory=LabelSet)
    annotations: FrozenMap[str, str] = field(default_factory=FrozenMap)
    created: datetime | None = None
    """`metadata.creationTimestamp`, UTC."""
    request: Request = field(default_factory=lambda: Request({"runs": 1}))
    affinity: Affinity = field(default_factory=Affinity)
    workspace: str | None = None
    """The name of the PersistentWorkspace that the Run is tied to."""
    attempt: int = 1
    """`status.attempt`, 1-based."""


@dataclass(frozen=True, slots=True)
class InvalidInput:
    """Why a Run can never be scheduled, found while it was decoded.

    `reason` is the CamelCase reason of the Failed status, `path` the field (`spec.resources...`),
    `message` the actionable text. `unreadable` is True for what could not be read at all (`1K`, an
    unknown operator), and False for what was read and is not allowed (`-1`, `500m`).
    """

    reason: str
    path: str
    message: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObservation:
    """One version of a Run object: the Run, and what the host alone needs of its status."""

    run: Run
    version: str = ""
    """`metadata.resourceVersion`."""
    generation: int | None = None
    """`metadata.generation`: incremented when anything outside `metadata` and `status` changes."""
    phase: Phase = Phase.PENDING
    assigned_pod: str | None = None
    assigned_pod_uid: str | None = None
    message: str = ""
    conditions: tuple[object, ...] = ()
    """`status.conditions` as they stand, kept for Pending Runs only: a patch must repeat them."""
    stopped_at: datetime | None = None
    """lastTransitionTime of the condition `Running` = False; a retry delay counts from it."""
    backoff_seconds: float = 1.0
    """`spec.retryPolicy.backoff`; 1 when missing, unreadable, zero or negative."""
    cancel_requested: bool = False
    deleting: bool = False
    invalid: InvalidInput | None = None
    held: Request = field(default_factory=lambda: Request({"runs": 1}))
    """What the Run occupies while active: its request, or what could be read of an invalid one."""

    @property
    def active(self) -> bool:
        """Whether the Run holds room: an active phase, or an unknown one with a Pod."""
        if self.assigned_pod is None:
            return False
        return self.phase in ACTIVE_PHASES or self.phase is Phase.UNKNOWN
