"""API calls: what the engine wants written and read, the answers, and the queue in which calls wait.

A pending call waits in the call queue; a `Write` or `Read` is what the driver is handed; an answer says
whether it was applied, refused, or has an unknown outcome (semantics, Writes, and doubt).
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kruntimes_core.engine.clock import Timers
from kruntimes_core.engine.runs import Assumption, RunEntry, Runs, Stage
from kruntimes_core.model.run import Phase, RunObservation

# If a queue has this number of rows more than there are Runs with calls, its void rows are removed.
_CLEANED_AT = 1024


class CallPriority(Enum):
    """Whether a placement waits for a call, most urgent first. The driver divides its requests by it."""

    PLACEMENT = "placement"
    """Binds, and what ends a reservation or a conflict: a read of the Run, a withdrawal."""
    OTHER = "other"
    """Endings, texts, and reads that no placement waits for."""


class WriteKind(Enum):
    """What a status patch is for; of one priority, most urgent first."""

    BIND = "bind"
    WITHDRAW = "withdraw"
    """A changed text: in the new version a bind with an unknown outcome can never be applied."""
    TERMINAL = "terminal"
    TEXT = "text"

    @property
    def priority(self) -> CallPriority:
        """Whether a placement waits for such a write; a withdrawal frees the room that the Run holds."""
        placement = self in (WriteKind.BIND, WriteKind.WITHDRAW)
        return CallPriority.PLACEMENT if placement else CallPriority.OTHER


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
    """Write another text, so that an unwanted bind with an unknown outcome can never be applied."""

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

    @property
    def priority(self) -> CallPriority:
        """See `CallPriority`."""
        return self.kind.priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A consistent read of one Run."""

    namespace: str
    name: str
    uid: str
    priority: CallPriority


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


# The queue.


@dataclass(slots=True, eq=False)
class _DelayedText:
    """A text that has no turn yet: a newer one takes its place, and its time."""

    message: str


@dataclass(slots=True)
class _RunCalls:
    """The calls of one Run."""

    pending: Pending | _DelayedText | None = None
    """The write that waits for its turn, or for its time."""
    in_flight: Write | None = None
    reading: bool = False
    """A read waits for its turn, or is in flight (`read_sent`)."""
    read_urgent: bool = False
    """A placement waits for the read."""
    read_sent: bool = False
    read_again: bool = False
    """Something happened since the read began that it may not show."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to keep."""
        return self.pending is None and self.in_flight is None and not self.reading


class CallQueue:
    """Writes and reads that wait for a place among those in flight.

    A Run has one pending write; a new one replaces it, as a bind replaces a text not yet sent. While a
    write is in flight the next one waits for its answer, and is made from the version that it gives.
    Calls of one priority leave in order: reads, because they end what is unknown, then writes by their kind.
    """

    def __init__(self, runs: Runs, timers: Timers) -> None:
        self._runs = runs
        self._timers = timers
        self._calls: defaultdict[RunEntry, _RunCalls] = defaultdict(_RunCalls)
        self._reads: dict[CallPriority, deque[RunEntry]] = {priority: deque() for priority in CallPriority}
        self._writes: dict[WriteKind, deque[tuple[RunEntry, Pending]]] = {kind: deque() for kind in WriteKind}

    def __len__(self) -> int:
        return len(self._calls)

    # Writes

    def pending(self, entry: RunEntry) -> Pending | None:
        """The write of this Run that waits for its turn."""
        calls = self._calls.get(entry)
        if calls is None or isinstance(calls.pending, _DelayedText):
            return None
        return calls.pending

    def pending_text(self, entry: RunEntry) -> str | None:
        """The text that waits for its turn, or for its time."""
        calls = self._calls.get(entry)
        if calls is not None and isinstance(calls.pending, PendingText | _DelayedText):
            return calls.pending.message
        return None

    def in_flight(self, entry: RunEntry) -> Write | None:
        """The write of this Run that was handed out and is not answered yet: never more than one."""
        calls = self._calls.get(entry)
        return calls.in_flight if calls is not None else None

    def put(self, entry: RunEntry, pending: Pending) -> None:
        """Let a write wait for its turn, in the place of any other of this Run."""
        calls = self._calls[entry]
        calls.pending = pending
        if calls.in_flight is None:
            waiting = self._writes[pending.kind]
            waiting.append((entry, pending))
            if len(waiting) > _CLEANED_AT + 2 * len(self._calls):
                self._writes[pending.kind] = deque(one for one in waiting if self._stands(*one))

    def delay(self, entry: RunEntry, text: str, until: int) -> None:
        """Let a text wait for its time (in ticks), and then for its turn; until then it may be replaced.

        It gets the time of a delayed text that it replaces, so a text that keeps changing is written, too.
        """
        calls = self._calls[entry]
        if isinstance(calls.pending, _DelayedText):
            calls.pending.message = text
        elif isinstance(calls.pending, PendingText):
            self.put(entry, PendingText(text))
        else:
            calls.pending = delayed = _DelayedText(text)
            self._timers.at(
                until,
                lambda: self._stands(entry, delayed),
                lambda: self.put(entry, PendingText(delayed.message)),
            )

    def drop(self, entry: RunEntry) -> None:
        """The pending write of this Run is not wanted any more."""
        calls = self._calls.get(entry)
        if calls is not None:
            calls.pending = None
            self._tidy(entry, calls)

    def next_write(self, priority: CallPriority) -> tuple[RunEntry, Pending] | None:
        """The most urgent write that still stands; it stays pending until it is `sent` or dropped."""
        for kind, waiting in self._writes.items():
            while waiting and kind.priority is priority:
                entry, pending = waiting.popleft()
                if self._stands(entry, pending) and self.in_flight(entry) is None:
                    return entry, pending
        return None

    def sent(self, entry: RunEntry, write: Write) -> None:
        """The pending write is handed out."""
        calls = self._calls[entry]
        calls.pending = None
        calls.in_flight = write

    def answered(self, entry: RunEntry) -> None:
        """The write in flight was answered: the next one of this Run may go, if its time has come."""
        calls = self._calls[entry]
        calls.in_flight = None
        if calls.pending is not None and not isinstance(calls.pending, _DelayedText):
            self.put(entry, calls.pending)
        self._tidy(entry, calls)

    # Reads

    def read(self, entry: RunEntry) -> None:
        """Let a consistent read wait for its turn; one is enough, if it is still to begin."""
        calls = self._calls[entry]
        if calls.read_sent:
            calls.read_again = True
            return
        priority = _read_priority(entry)
        # A read that waits already may have become urgent since.
        if not calls.reading or (priority is CallPriority.PLACEMENT and not calls.read_urgent):
            calls.reading = True
            calls.read_urgent = priority is CallPriority.PLACEMENT
            self._reads[priority].append(entry)

    def read_later(self, entry: RunEntry, at: int) -> None:
        """Read the Run at a time, in ticks, if it is still known then."""
        self._timers.at(at, lambda: self._runs.get(entry.key) is entry, lambda: self.read(entry))

    def next_read(self, priority: CallPriority) -> RunEntry | None:
        """The Run that is to be read next."""
        waiting = self._reads[priority]
        while waiting:
            entry = waiting.popleft()
            calls = self._calls.get(entry)
            if calls is not None and calls.reading and not calls.read_sent:
                calls.read_sent = True
                return entry
        return None

    def was_read(self, entry: RunEntry) -> bool:
        """The read in flight was answered. False if it began before the last call of `read`."""
        calls = self._calls[entry]
        again, calls.read_again = calls.read_again, False
        calls.reading = calls.read_urgent = calls.read_sent = False
        if again:
            self.read(entry)
        self._tidy(entry, calls)
        return not again

    def waits(self, priority: CallPriority) -> bool:
        """Whether a call of a priority may wait for its turn."""
        return bool(self._reads[priority]) or any(
            waiting for kind, waiting in self._writes.items() if kind.priority is priority
        )

    # Inside

    def forget(self, entry: RunEntry) -> None:
        """The Run does not exist any more: all of its calls are dropped."""
        self._calls.pop(entry, None)

    def _stands(self, entry: RunEntry, pending: Pending | _DelayedText) -> bool:
        calls = self._calls.get(entry)
        return calls is not None and calls.pending is pending

    def _tidy(self, entry: RunEntry, calls: _RunCalls) -> None:
        if calls.idle:
            self._calls.pop(entry, None)


def _read_priority(entry: RunEntry) -> CallPriority:
    """Whether a placement waits for a read: the Run holds room, or its bind was refused for a conflict."""
    seen = entry.observation
    ending = seen.cancel_requested or seen.invalid is not None
    if entry.assumption is not None or (entry.stage is Stage.AWAITING_READ and not ending):
        return CallPriority.PLACEMENT
    return CallPriority.OTHER
