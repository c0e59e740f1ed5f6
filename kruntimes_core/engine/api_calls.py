"""The calls that the engine wants made to the API server, and the answers that may come back.

A pending call waits in the call queue; a `Write` or `Read` is what the driver is handed; an answer says
whether it was applied, refused, or has an unknown outcome (semantics, Writes, and doubt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import PreFilterState, Verdict
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase, Run, RunObservation


@dataclass(slots=True, eq=False)
class Assumption:
    """One tentative assignment, as later cycles see it before its bind is confirmed."""

    run: Run
    pod: RuntimePod
    """The chosen Pod as it was when the Run was reserved on it."""
    pod_alone: RuntimePod
    """The Pod without what it carries: a bind that waits is dropped if this changes."""
    profile: Profile
    prefilter_state: PreFilterState
    verdicts: Mapping[str, Verdict] | None = None
    """For the record, where a plugin is stateful."""
    guard: str = ""
    """The version that the bind was sent with; empty until then."""
    bound_version: str = ""
    """The version of the bind's answer; empty until it is applied."""
    outcome_unknown: bool = False
    """The bind may have been applied: nothing but a read that shows so or not ends it."""
    repeats: int = 0
    _reserved_by: list[ActivePlugin] = field(default_factory=list)

    def reserved_by(self, plugins: Sequence[ActivePlugin]) -> None:
        """Note the plugins whose `reserve` was called, in order."""
        self._reserved_by = list(plugins)

    def take_reserved_by(self) -> list[ActivePlugin]:
        """The plugins whose `reserve` was called; from here on none: each gets one `unreserve`."""
        plugins, self._reserved_by = self._reserved_by, []
        return plugins

    def sent(self, guard: str) -> None:
        """The bind is handed to the driver, guarded by this version."""
        self.guard = guard

    def applied(self, version: str) -> None:
        """The bind was applied; `version` is that of its answer."""
        self.bound_version = version
        self.outcome_unknown = False

    def lose_outcome(self) -> None:
        """The answer does not tell whether the bind was applied."""
        self.outcome_unknown = True

    def repeat(self) -> int:
        """Count one more repeat of the bind, and return how many there are."""
        self.repeats += 1
        return self.repeats


class WriteKind(Enum):
    """What a status patch is for, most urgent first."""

    BIND = "bind"
    TERMINAL = "terminal"
    WITHDRAW = "withdraw"
    """A changed text that moves the version on, so that a bind with an unknown outcome can never land."""
    TEXT = "text"


# What waits for its turn: the body is made when the turn comes, from the newest version.


@dataclass(frozen=True, slots=True)
class PendingBind:
    """Bind an assumed Run."""

    assumption: Assumption

    kind = WriteKind.BIND


@dataclass(frozen=True, slots=True)
class PendingTerminal:
    """End a Pending Run as Cancelled or Failed."""

    phase: Phase
    reason: str
    message: str

    kind = WriteKind.TERMINAL


@dataclass(frozen=True, slots=True)
class PendingText:
    """Write why a Run waits."""

    message: str

    kind = WriteKind.TEXT


@dataclass(frozen=True, slots=True)
class PendingWithdrawal:
    """Make sure that a bind with an unknown outcome which is not wanted any more cannot land."""

    assumption: Assumption
    message: str

    kind = WriteKind.WITHDRAW


Pending = PendingBind | PendingTerminal | PendingText | PendingWithdrawal


# What is handed to the driver.


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One merge patch of the status subresource, guarded by resourceVersion `guard`."""

    namespace: str
    name: str
    uid: str
    kind: WriteKind
    guard: str
    body: dict[str, Any]
    pending: Pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A consistent read of one Run."""

    namespace: str
    name: str
    uid: str


Request = Write | Read


# What comes back.


@dataclass(frozen=True, slots=True)
class Applied:
    """The patch was applied; `version` is the new resourceVersion."""

    version: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A 4xx answer (not 408): the patch was not applied. `retry_after` in seconds, if given."""

    status: int
    retry_after: float | None = None

    @property
    def conflict(self) -> bool:
        """Whether the guard was not the Run's version any more."""
        return self.status == 409

    @property
    def not_found(self) -> bool:
        """Whether the Run does not exist."""
        return self.status == 404


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """5xx, 408, timeout, broken connection, unreadable answer: the patch may have been applied."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The Run as it was read."""

    observation: RunObservation


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no Run of that name."""


WriteAnswer = Applied | Refused | OutcomeUnknown
ReadAnswer = Found | NotFound | OutcomeUnknown
