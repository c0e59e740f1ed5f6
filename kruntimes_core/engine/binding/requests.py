"""What the engine wants sent to the API server, and what may come back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.model.run import Phase, RunObservation


class WriteKind(Enum):
    """What a status patch is for, most urgent first."""

    BIND = "bind"
    TERMINAL = "terminal"
    TEXT = "text"
    WITHDRAW = "withdraw"
    """A changed text that moves the version on, so that a doubtful bind can never land."""


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
    """Say why a Run waits."""

    message: str

    kind = WriteKind.TEXT


@dataclass(frozen=True, slots=True)
class PendingWithdrawal:
    """Make sure that a doubtful bind which is not wanted any more cannot land."""

    assumption: Assumption
    message: str

    kind = WriteKind.WITHDRAW


Pending = PendingBind | PendingTerminal | PendingText | PendingWithdrawal


@dataclass(slots=True, eq=False)
class HeldText:
    """A text that has no turn yet: one that is thought of until then takes its place, and its time."""

    message: str
    until: int
    """In ticks; then it is a `PendingText`."""


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


@dataclass(frozen=True, slots=True)
class InDoubt:
    """5xx, 408, timeout, broken connection, unreadable answer: the patch may have been applied."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The Run as it was read."""

    observation: RunObservation


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no Run of that name."""


WriteAnswer = Applied | Refused | InDoubt
ReadAnswer = Found | NotFound | InDoubt
