"""The binding cycle: status writes are made when their turn comes, and concluded from their answers.

Refused means that the patch was not applied. Everything else leaves its outcome unknown, and only a
consistent read resolves that: until the Run says otherwise its reservation stays (semantics, Writes,
and doubt).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kruntimes_core.engine.api_calls import (
    Applied,
    CallPriority,
    CallQueue,
    OutcomeUnknown,
    Pending,
    PendingBind,
    PendingTerminal,
    PendingWithdrawal,
    Read,
    Refused,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.clock import EngineClock
from kruntimes_core.engine.counters import ConflictStage, Counters, SyncResult
from kruntimes_core.engine.reserve import AssumedRuns
from kruntimes_core.engine.run_event_handlers import RunEventHandlers
from kruntimes_core.engine.runs import Assumption, RunEntry, Runs, Stage
from kruntimes_core.engine.scheduling_queue import SchedulingQueue
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.model.status_patches import bind_patch, terminal_patch, waiting_patch

# The text of a Run whose assignment is not wanted any more, but may still be applied.
WITHDRAWAL_TEXT = "waiting for an earlier assignment to be withdrawn"


@dataclass(slots=True, eq=False)
class BindingCycle:
    """Makes the writes, and draws the conclusion from each answer."""

    _clock: EngineClock
    _runs: Runs
    _cache: Cache
    _queue: SchedulingQueue
    _assumed: AssumedRuns
    _calls: CallQueue
    _run_handlers: RunEventHandlers
    _counters: Counters

    # Making calls, checked in the step in which they are handed out

    def next_read(self, priority: CallPriority) -> Read | None:
        """The next read."""
        entry = self._calls.next_read(priority)
        if entry is None:
            return None
        run = entry.run
        return Read(namespace=run.namespace, name=run.name, uid=run.uid, priority=priority)

    def next_write(self, priority: CallPriority) -> Write | None:
        """The most urgent write that is still due."""
        while (waiting := self._calls.next_write(priority)) is not None:
            write = self._write(*waiting)
            if write is not None:
                return write
        return None

    def still_wanted(self, entry: RunEntry, assumption: Assumption) -> bool:
        """Whether the Run and the Pod are as they were when the one was reserved on the other."""
        seen, pod = entry.observation, assumption.pod
        alone = self._cache.pods.without_load(pod.namespace, pod.name)
        return (
            entry.assumption is assumption
            and not (seen.cancel_requested or seen.deleting)
            # Mostly it is the same object, which is quicker to see.
            and (seen.run is assumption.run or seen.run == assumption.run)
            and (alone is assumption.pod_alone or alone == assumption.pod_alone)
        )

    def withdraw(self, entry: RunEntry, assumption: Assumption) -> None:
        """Write another text, which gives the Run a new version; a patch that changes nothing would not."""
        stands = entry.observation.message == WITHDRAWAL_TEXT
        text = f"{WITHDRAWAL_TEXT}, again" if stands else WITHDRAWAL_TEXT
        self._calls.put(entry, PendingWithdrawal(assumption, text))

    def _write(self, entry: RunEntry, pending: Pending) -> Write | None:
        """The write, made from the newest version; None if it is not due any more."""
        if isinstance(pending, PendingBind) and not self.still_wanted(entry, pending.assumption):
            self._unwanted(entry, pending.assumption)
            return None
        seen = entry.observation
        body = self._body(seen, pending)
        if body is None:
            self._calls.drop(entry)
            return None
        if isinstance(pending, PendingBind):
            pending.assumption.sent(seen.version)
        write = Write(
            namespace=entry.run.namespace,
            name=entry.run.name,
            uid=entry.run.uid,
            kind=pending.kind,
            guard=seen.version,
            body=body,
            pending=pending,
        )
        self._calls.sent(entry, write)
        return write

    def _body(self, seen: RunObservation, pending: Pending) -> dict[str, Any] | None:
        now = self._clock.now.wall
        if isinstance(pending, PendingBind):
            pod = pending.assumption.pod
            return bind_patch(seen, pod.name, pod.uid, now)
        if isinstance(pending, PendingTerminal):
            return terminal_patch(seen, pending.phase, pending.reason, pending.message, now)
        return waiting_patch(seen, pending.message)

    def _unwanted(self, entry: RunEntry, assumption: Assumption) -> None:
        if entry.assumption is not assumption:
            self._calls.drop(entry)
        elif assumption.outcome_unknown:
            self.withdraw(entry, assumption)
        else:
            self._run_handlers.drop_bind(entry)

    # Concluding from the answer to a write

    def written(self, write: Write, answer: WriteAnswer) -> None:
        """Conclude from the answer to a write. The Run may be gone, or changed, by then."""
        entry = self._runs.get((write.namespace, write.uid))
        if entry is None or self._calls.in_flight(entry) is not write:
            return
        self._calls.answered(entry)
        if isinstance(answer, Applied):
            self._applied(entry, write, answer)
        elif isinstance(answer, Refused) and answer.not_found:
            self._run_handlers.forget(entry)
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
        self._run_handlers.written(entry, write.guard, answer.version, phase, pending.message)
        if isinstance(pending, PendingWithdrawal) and entry.assumption is pending.assumption:
            self._run_handlers.drop_bind(entry)

    def _bound(self, entry: RunEntry, assumption: Assumption, answer: Applied) -> None:
        """Bound. The reservation stays until the assignment is observed."""
        entry.succeed()
        if entry.assumption is not assumption:
            return
        self._counters.synced(SyncResult.SCHEDULED)
        assumption.applied(answer.version)
        self._run_handlers.bound(entry, answer.version)

    def _bind_failed(
        self, entry: RunEntry, write: Write, assumption: Assumption, answer: Refused | OutcomeUnknown
    ) -> None:
        if entry.assumption is not assumption:
            return
        if isinstance(answer, OutcomeUnknown) or assumption.outcome_unknown:
            # A refused repeat proves nothing: the first bind may be why it was refused.
            assumption.lose_outcome()
            self._calls.read(entry)
            return
        self._assumed.release(entry)
        if answer.conflict:
            self._counters.conflicted(ConflictStage.BIND)
            self._await_newer(entry, write.guard)
        else:
            self._queue.back_off(entry, answer.retry_after)

    def _await_newer(self, entry: RunEntry, guard: str) -> None:
        """The Run was changed by another client: go on from the newer version, read it if need be."""
        if entry.observation.version != guard:
            self._queue.requeue(entry)
            return
        self._queue.enter(entry, Stage.AWAITING_READ)
        self._calls.read(entry)

    def _terminal_failed(self, entry: RunEntry, write: Write, answer: Refused | OutcomeUnknown) -> None:
        if entry.stage is not Stage.ENDING:
            return  # another client placed or ended it meanwhile
        if isinstance(answer, OutcomeUnknown):
            entry.refuse_in(write.guard)  # sent again with backoff, if it has not landed
            self._await_newer(entry, write.guard)
        elif answer.conflict:
            self._await_newer(entry, write.guard)
        else:
            self._queue.back_off(entry, answer.retry_after)

    def _text_failed(self, entry: RunEntry, write: Write, answer: Refused | OutcomeUnknown) -> None:
        """A text is written again if it is still true, after a read; nothing else depends on it.

        A conflict leads to a read at once, but a second conflict in the same version is not a race.
        """
        if isinstance(answer, Refused) and answer.conflict and entry.refused_in != write.guard:
            entry.refuse_in(write.guard)
            self._calls.read(entry)
            return
        self._calls.read_later(entry, self._queue.backoff.after_failure(entry, answer.retry_after))
