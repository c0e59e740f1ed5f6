"""Unknown outcomes of writes are resolved by a consistent read of the Run, and by nothing else.

The Run is on the Pod: the bind was applied. It is in another version without an assignment: the bind can
never be applied any more. It is in the guarded version: the bind may still be applied, and is sent again,
or withdrawn (semantics, Writes, and doubt).
"""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.api_calls import (
    CallQueue,
    NotFound,
    OutcomeUnknown,
    PendingBind,
    PendingText,
    Read,
    ReadAnswer,
)
from kruntimes_core.engine.binding_cycle import BindingCycle
from kruntimes_core.engine.clock import Timers
from kruntimes_core.engine.run_event_handlers import RunEventHandlers
from kruntimes_core.engine.runs import Assumption, RunEntry, Runs, Stage
from kruntimes_core.engine.scheduling_queue import SchedulingQueue
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.status_patches import waiting_patch


@dataclass(slots=True, eq=False)
class OutcomeResolver:
    """Concludes from a consistent read whether a write was applied, or can never be."""

    _timers: Timers
    _runs: Runs
    _queue: SchedulingQueue
    _calls: CallQueue
    _run_handlers: RunEventHandlers
    _binding_cycle: BindingCycle

    def read(self, read: Read, answer: ReadAnswer) -> None:
        """What a consistent read found."""
        entry = self._runs.get((read.namespace, read.uid))
        if entry is None:
            return
        recent = self._calls.was_read(entry)
        if isinstance(answer, NotFound):
            self._run_handlers.forget(entry)
        elif isinstance(answer, OutcomeUnknown):
            self._calls.read_later(entry, self._queue.backoff.after_failure(entry, answer.retry_after))
        elif answer.observation.run.uid != entry.run.uid:
            self._run_handlers.forget(entry)
            self._run_handlers.observed(answer.observation, consistent=True)
        else:
            self._run_handlers.observed(answer.observation, consistent=recent)
            if recent:
                self._conclude(entry, answer.observation)

    def _conclude(self, entry: RunEntry, seen: RunObservation) -> None:
        """Go on with what waited for the read."""
        assumption = entry.assumption
        unanswered = self._calls.in_flight(entry) is not None
        if assumption is not None:
            if assumption.outcome_unknown and not unanswered:
                self._resolve(entry, assumption, seen)
        elif entry.stage is Stage.AWAITING_READ:
            self._unchanged(entry, seen.version)
        elif entry.stage in (Stage.UNSCHEDULABLE, Stage.BACKOFF):
            text = entry.waiting_text
            if text is not None and not unanswered and waiting_patch(seen, text) is not None:
                self._calls.put(entry, PendingText(text))

    def _unchanged(self, entry: RunEntry, version: str) -> None:
        """A newer version would have queued the Run: no write was applied, and nothing has changed.

        The first time it is tried at once; again in the same version, after a backoff.
        """
        if entry.refused_in == version:
            self._queue.back_off(entry)
        else:
            entry.refuse_in(version)
            self._queue.requeue(entry)

    def _resolve(self, entry: RunEntry, assumption: Assumption, seen: RunObservation) -> None:
        """The Run shows no assignment. In the guarded version the patch may still be applied, else never."""
        if seen.version != assumption.guard:
            self._run_handlers.drop_bind(entry)
            return
        repeats = assumption.repeat()
        if not self._binding_cycle.still_wanted(entry, assumption):
            self._binding_cycle.withdraw(entry, assumption)
            return
        self._timers.at(
            self._queue.backoff.until(repeats),
            lambda: entry.assumption is assumption and self._calls.in_flight(entry) is None,
            lambda: self._calls.put(entry, PendingBind(assumption)),
        )
