"""Drawing the right conclusion from the answer to each write.

Refused means that the patch was not applied. Everything else is doubt, and doubt is resolved by
evidence alone: the Run is read, and until it says otherwise its reservation stays.
"""

from __future__ import annotations

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import (
    Applied,
    InDoubt,
    PendingBind,
    PendingTerminal,
    PendingWithdrawal,
    Refused,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Conflict, Result
from kruntimes_core.engine.ways import Ways
from kruntimes_core.model.run import Phase

_CONFLICT, _NOT_FOUND = 409, 404


class Binder:
    """Bind and the other status writes, after they were sent."""

    def __init__(self, core: Core, ways: Ways) -> None:
        self._core = core
        self._ways = ways

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
        if isinstance(pending, PendingWithdrawal) and entry.assumption is pending.assumption:
            self._ways.drop_bind(entry)

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
        self._core.release(entry)
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
        self._core.read_later(entry, answer.retry_after)
