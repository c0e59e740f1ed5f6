"""Drawing the right conclusion from each answer.

Refused means that the patch was not applied. Everything else is doubt, and doubt is resolved by
evidence alone: the Run is read, and until it says otherwise its reservation stays.
"""

from __future__ import annotations

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import (
    Applied,
    InDoubt,
    NotFound,
    PendingBind,
    PendingTerminal,
    PendingText,
    PendingWithdrawal,
    Read,
    ReadAnswer,
    Refused,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.binding.sender import Sender
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.intake import Intake
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Conflict, Result, WakeSource
from kruntimes_core.engine.ways import Ways
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.model.transitions import waiting_patch

_CONFLICT, _NOT_FOUND = 409, 404


class Binder:
    """Bind and the other status writes, after they were sent."""

    def __init__(self, core: Core, intake: Intake, ways: Ways, sender: Sender) -> None:
        self._core = core
        self._intake = intake
        self._ways = ways
        self._sender = sender

    # Answers to writes

    def answered(self, write: Write, answer: WriteAnswer) -> None:
        """What came of a write. The Run may have gone, or gone on, meanwhile."""
        entry = self._core.runs.get((write.namespace, write.uid))
        if entry is None or entry.sent is not write:
            return
        self._core.outbox.sent(entry)
        if isinstance(answer, Applied):
            self._applied(entry, write, answer)
        elif isinstance(answer, Refused) and answer.status == _NOT_FOUND:
            self._ways.forget(entry)
        elif isinstance(write.pending, PendingBind):
            self._bind_failed(entry, write, write.pending.assumption, answer)
        elif isinstance(write.pending, PendingTerminal):
            self._terminal_failed(entry, write, answer)
        else:
            self._text_failed(entry, write, answer)

    def _applied(self, entry: RunEntry, write: Write, answer: Applied) -> None:
        pending = write.pending
        if isinstance(pending, PendingBind):
            self._bound(entry, pending.assumption, answer)
            return
        phase = pending.phase if isinstance(pending, PendingTerminal) else Phase.PENDING
        self._ways.written(entry, write.guard, answer.version, phase, pending.message)
        if isinstance(pending, PendingWithdrawal):
            self._release(entry, pending.assumption)

    def _bound(self, entry: RunEntry, assumption: Assumption, answer: Applied) -> None:
        """Bound. The reservation stays until the assignment is observed."""
        entry.failures = 0
        if entry.assumption is not assumption:
            return
        self._core.tally.syncs[Result.SCHEDULED] += 1
        assumption.bound_version = answer.version
        assumption.doubtful = False
        self._ways.bound(entry, answer.version)

    def _bind_failed(
        self, entry: RunEntry, write: Write, assumption: Assumption, answer: Refused | InDoubt
    ) -> None:
        if entry.assumption is not assumption:
            return
        if isinstance(answer, InDoubt) or assumption.doubtful:
            # A refusal of a repeat proves nothing: the first one may be why it was refused.
            assumption.doubtful = True
            self._core.outbox.read(entry)
            return
        self._core.waiting.source = WakeSource.RESERVATION_RELEASED
        self._core.reservations.end(entry, bound=False)
        if answer.status == _CONFLICT:
            self._core.tally.reservation_conflicts[Conflict.BIND] += 1
            self._await_newer(entry, write.guard)
        else:
            self._core.back_off(entry, answer.retry_after)

    def _await_newer(self, entry: RunEntry, guard: str) -> None:
        """The Run was changed by somebody: go on from the newer version, read it if need be."""
        if entry.observation.version != guard:
            self._core.enqueue(entry, None)
            return
        self._core.waiting.withdraw(entry)
        entry.leave()
        entry.stage = Stage.BEHIND
        self._core.outbox.read(entry)

    def _terminal_failed(self, entry: RunEntry, write: Write, answer: Refused | InDoubt) -> None:
        if entry.stage is not Stage.ENDING:
            return  # somebody else placed or ended it meanwhile
        if isinstance(answer, InDoubt):
            entry.refused_in = write.guard  # sent again with backoff, if it has not landed
            self._await_newer(entry, write.guard)
        elif answer.status == _CONFLICT:
            self._await_newer(entry, write.guard)
        else:
            self._core.back_off(entry, answer.retry_after)

    def _text_failed(self, entry: RunEntry, write: Write, answer: Refused | InDoubt) -> None:
        """A text is written again if it is still true, after a read; nothing else hangs on it.

        A conflict is read about at once, but a second one in the same version is no race any more.
        """
        conflict = isinstance(answer, Refused) and answer.status == _CONFLICT
        if conflict and entry.refused_in != write.guard:
            entry.refused_in = write.guard
            self._core.outbox.read(entry)
            return
        self._read_at(entry, self._core.after_failure(entry, answer.retry_after))

    def _read_at(self, entry: RunEntry, until: int) -> None:
        core = self._core
        core.timers.at(until, lambda: core.runs.get(entry.key) is entry, lambda: core.outbox.read(entry))

    # Answers to reads

    def read(self, read: Read, answer: ReadAnswer) -> None:
        """What a consistent read found."""
        entry = self._core.runs.get((read.namespace, read.uid))
        if entry is None:
            return
        tells = self._core.outbox.was_read(entry)
        if isinstance(answer, NotFound):
            self._ways.forget(entry)
        elif isinstance(answer, InDoubt):
            self._read_at(entry, self._core.after_failure(entry, answer.retry_after))
        elif answer.observation.run.uid != entry.run.uid:
            self._ways.forget(entry)
            self._intake.observed(answer.observation, sure=True)
        else:
            self._intake.observed(answer.observation, sure=tells)
            if tells:
                self._conclude(entry, answer.observation)

    def _conclude(self, entry: RunEntry, seen: RunObservation) -> None:
        """Go on with what waited for the read."""
        assumption = entry.assumption
        if assumption is not None:
            if assumption.doubtful and entry.sent is None:
                self._resolve(entry, assumption, seen)
        elif entry.stage is Stage.BEHIND:
            self._still_the_same(entry, seen.version)
        elif entry.stage in (Stage.WAITING, Stage.DELAYED):
            text = entry.text
            if text is not None and entry.sent is None and waiting_patch(seen, text) is not None:
                self._core.outbox.put(entry, PendingText(text))

    def _still_the_same(self, entry: RunEntry, version: str) -> None:
        """A newer version would have queued the Run: no write was applied, and nothing has changed.

        Once that may be chance; again in the same version, only time will tell.
        """
        if entry.refused_in == version:
            self._core.back_off(entry)
        else:
            entry.refused_in = version
            self._core.enqueue(entry, None)

    def _resolve(self, entry: RunEntry, assumption: Assumption, seen: RunObservation) -> None:
        """The Run shows no assignment. In the guarded version the patch may still land; else never."""
        if seen.version != assumption.guard:
            self._release(entry, assumption)
            return
        assumption.repeats += 1
        if not self._sender.still_wanted(entry, assumption):
            self._sender.withdraw(entry, assumption)
            return
        core = self._core
        core.timers.at(
            core.now.ticks + core.settings.backoff(assumption.repeats),
            lambda: entry.assumption is assumption and entry.sent is None,
            lambda: core.outbox.put(entry, PendingBind(assumption)),
        )

    def _release(self, entry: RunEntry, assumption: Assumption) -> None:
        """The doubtful bind can never land any more."""
        if entry.assumption is not assumption:
            return
        self._core.waiting.source = WakeSource.RESERVATION_RELEASED
        self._core.reservations.end(entry, bound=False)
        entry.pending = None
        self._core.enqueue(entry, None)
