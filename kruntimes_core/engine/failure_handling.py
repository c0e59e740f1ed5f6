"""What follows on a cycle that places nothing: the Run waits with a text, ends, or is tried again later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.engine.api_calls import CallQueue, PendingTerminal, PendingText
from kruntimes_core.engine.clock import EngineClock, ticks
from kruntimes_core.engine.counters import OTHER, Counters, SyncResult
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.decisions import Decision, Journal, Outcome
from kruntimes_core.engine.plugin_work import Cycle, QueueKeyWork
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.scheduling_queue import SMALLEST_PAUSE, EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.framework.runtime import BASE_COMPLETION, Unschedulable, WaitingMessage, waiting_text
from kruntimes_core.model.run import InvalidReason, Phase, Run
from kruntimes_core.model.status_patches import status_message, waiting_patch

_OWN_REASONS = frozenset(reason.value for reason in InvalidReason)


@dataclass(slots=True, eq=False)
class FailureHandler:
    """Records the decision, moves the Run to where it belongs, and queues the write that says so."""

    _text_delay: int
    _clock: EngineClock
    _profiles: CurrentProfiles
    _queue: SchedulingQueue
    _calls: CallQueue
    _journal: Journal
    _counters: Counters

    # No feasible Pod

    def unschedulable(self, cycle: Cycle, outcome: Unschedulable, current: bool) -> None:
        """Let the Run wait for a change, or for a time after a refused reservation.

        current: whether nothing changed that it was not answered for.
        """
        entry = cycle.entry
        entry.attempt_ended()
        message = reserve_message(cycle) if cycle.turned_down else outcome.waiting_message
        self._counters.synced(SyncResult.NO_PODS)
        if cycle.turned_down:
            self._queue.back_off(entry)
        else:
            profile, state = cycle.profile, outcome.prefilter_state
            dependencies = self._profiles.dependencies(profile)
            waiting = self._queue.unschedulable.add(entry, profile.name, state, dependencies, current)
            if outcome.retry_at is not None:
                self._retry_at(cycle, outcome, outcome.retry_at, waiting)
        if is_news(entry.decision, cycle.equivalence_class, message):
            self._show(cycle, outcome, message)

    def _retry_at(
        self, cycle: Cycle, outcome: Unschedulable, moment: datetime, waiting: EquivalenceClass
    ) -> None:
        """Wake the class at the moment that a plugin named, or later: one that names the next is counted."""
        self._queue.retry_class_at(waiting, moment)
        # The plugin knows the snapshot's time, and not how long its cycle took.
        pause = (moment - cycle.snapshot.now).total_seconds()
        if outcome.retry_by is not None and ticks(pause) < SMALLEST_PAUSE:
            self._counters.retried_early(outcome.retry_by)

    # The waiting text

    def _show(self, cycle: Cycle, outcome: Unschedulable, message: WaitingMessage) -> None:
        """Record why a Run waits, and write that text unless the status shows it already."""
        entry, text = cycle.entry, message.text
        decision = cycle.decision(
            outcome=Outcome.WAITING,
            reason=message.reason,
            message=text,
            furthest=message.place,
            verdicts=outcome.verdicts,
        )
        entry.decide(decision, self._journal)
        entry.show(text)
        # While a write is in flight, the text in the status is not known: decided again after its answer.
        if self._calls.in_flight(entry) is None and waiting_patch(entry.observation, text) is None:
            self._calls.drop(entry)
        elif self._calls.pending_text(entry) != text:
            self._write_text(entry, text)

    def _write_text(self, entry: RunEntry, text: str) -> None:
        if self._text_delay:
            self._calls.delay(entry, text, self._clock.now.ticks + self._text_delay)
        else:
            self._calls.put(entry, PendingText(text))

    # Endings and plugin errors

    def end(self, entry: RunEntry, phase: Phase, reason: str, message: str) -> None:
        """End a Run as Cancelled or Failed."""
        self._queue.enter(entry, Stage.ENDING)
        self._calls.put(entry, PendingTerminal(phase, reason, message))
        outcome = Outcome.CANCELLED if phase is Phase.CANCELLED else Outcome.FAILED
        decision = Decision(run=entry.run, outcome=outcome, reason=reason, message=status_message(message))
        if outcome is Outcome.FAILED and not _same_end(entry.decision, decision):
            self._counters.failed(self._label(entry.run, reason))
        entry.decide(decision, self._journal)

    def _label(self, run: Run, reason: str) -> str:
        """The reason where the host or a plugin of the Run's profile declares it, else `OTHER`."""
        plugins = self._profiles.of(run).plugins
        declared = reason in _OWN_REASONS or any(reason in plugin.reasons for plugin in plugins)
        return reason if declared else OTHER

    def plugin_failed(self, work: Cycle | QueueKeyWork, error: PluginError) -> None:
        """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""
        entry = work.entry
        entry.attempt_ended()
        self.count_error(error)
        self._counters.synced(SyncResult.SELECTION_ERROR)
        until = self._clock.wall_at(self._queue.back_off(entry))
        message = entry.observation.message
        decision = work.decision(
            outcome=Outcome.BACKOFF, reason="PluginError", message=message, until=until, error=error
        )
        entry.decide(decision, self._journal)

    def count_error(self, error: PluginError) -> None:
        """Count a plugin's failure."""
        self._counters.plugin_failed(error.plugin, error.hook)


def _same_end(before: Decision | None, now: Decision) -> bool:
    """Whether an attempt is ended once more, because the write that ends it was refused."""
    return (
        before is not None
        and before.outcome is now.outcome
        and before.reason == now.reason
        and before.run.attempt == now.run.attempt
    )


def reserve_message(cycle: Cycle) -> WaitingMessage:
    """Why a Run waits if `reserve` turned down every Pod that the filters let pass."""
    last = list(cycle.turned_down.values())[-1]
    completion = BASE_COMPLETION
    for plugin in cycle.profile.plugins:
        if plugin.name == last.plugin:
            # A profile that was loaded meanwhile may have built it with other reasons.
            completion = plugin.reasons.get(last.reject.reason, BASE_COMPLETION)
    text = waiting_text(completion, cycle.run.runtime)
    return WaitingMessage(last.reject.reason, text, last.plugin, len(cycle.profile.plugins))


def is_news(before: Decision | None, waiting: EquivalenceClass | None, message: WaitingMessage) -> bool:
    """Whether a Run that waited shows another reason now. before: what was decided of it last.

    In a cycle of its own, always. When its class was tried with changed Pods, only if they got further
    than those before, or as far and for another reason: else the text of a Run that can never be placed
    would be rewritten each time that other Runs come and go.
    """
    if waiting is None or waiting.swept or before is None:
        return True
    if before.outcome is not Outcome.WAITING:
        return True
    if message.place == before.furthest:
        return message.text != before.message
    return message.place > before.furthest
