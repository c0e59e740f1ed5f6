"""What follows on a cycle that places nothing: the Run waits with a text, ends, or is tried again later."""

from __future__ import annotations

from kruntimes_core.engine.api_calls import CallQueue, PendingTerminal, PendingText
from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.clock import SECOND, EngineClock, Timers
from kruntimes_core.engine.counters import Counters, SyncResult, WakeupSource
from kruntimes_core.engine.current_profiles import CurrentProfiles
from kruntimes_core.engine.decisions import Decision, Journal, Outcome
from kruntimes_core.engine.plugin_work import BatchRetryWork, ClassRetry, PlanWork, RunWork
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, SchedulingQueue
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Unschedulable
from kruntimes_core.framework.waiting_message import BASE_COMPLETION, WaitingMessage, waiting_text
from kruntimes_core.model.run import Phase
from kruntimes_core.model.status_patches import status_message, waiting_patch

# A plugin that names the next moment each time must not keep the host busy (semantics, Waiting and waking).
_SMALLEST_PAUSE = SECOND // 10


class FailureHandler:
    """Records the decision, moves the Run to where it belongs, and queues the write that says so."""

    def __init__(
        self,
        text_delay: int,
        clock: EngineClock,
        timers: Timers,
        profiles: CurrentProfiles,
        cache: Cache,
        queue: SchedulingQueue,
        calls: CallQueue,
        journal: Journal,
        counters: Counters,
    ) -> None:
        self._text_delay = text_delay
        self._clock = clock
        self._timers = timers
        self._profiles = profiles
        self._cache = cache
        self._queue = queue
        self._calls = calls
        self._journal = journal
        self._counters = counters

    # No feasible Pod

    def unschedulable(self, work: PlanWork, outcome: Unschedulable) -> None:
        """Let the Run wait for a change, or for a time after a refused reservation."""
        entry = work.entry
        self._counters.synced(SyncResult.NO_PODS)
        message = waiting_message_of(entry, self._profiles.of(entry.run), outcome)
        if entry.turned_down:
            self._queue.back_off(entry)
        else:
            self._wait_in_class(work, outcome)
        if is_news(entry.decision, work.equivalence_class, message):
            self._show(work, outcome, message)

    def keep_unschedulable(
        self, work: BatchRetryWork, retry: ClassRetry, outcome: Unschedulable, current: bool
    ) -> None:
        """Let the first Run of a class go on waiting where it is. current: see `still_current`."""
        entry, waiting = retry.entry, retry.equivalence_class
        self._counters.synced(SyncResult.NO_PODS)
        self._queue.unschedulable.keep(waiting, entry, outcome.prefilter_state, current)
        self._arm_retry(waiting, outcome)
        if is_news(entry.decision, waiting, outcome.waiting_message):
            own = PlanWork(
                entry=entry,
                token=retry.token,
                run=retry.run,
                profile=work.profile,
                snapshot=work.snapshot,
                version=work.version,
            )
            self._show(own, outcome, outcome.waiting_message)

    def still_current(self, work: PlanWork | BatchRetryWork) -> bool:
        """Whether nothing changed since the snapshot of the work that could turn its answer."""
        run = work.run
        pods = self._cache.pods_of(run.namespace, run.runtime)
        if pods.changed_since(work.snapshot.pods.mark) != []:
            return False
        any_change = self._profiles.dependencies(work.profile).any_change
        return not (any_change and work.version != self._cache.version(run.namespace))

    def _wait_in_class(self, work: PlanWork, outcome: Unschedulable) -> None:
        waiting = self._queue.unschedulable.add(
            work.entry,
            work.profile.name,
            outcome.prefilter_state,
            self._profiles.dependencies(work.profile),
            current=self.still_current(work),
        )
        self._arm_retry(waiting, outcome)

    def _arm_retry(self, waiting: EquivalenceClass, outcome: Unschedulable) -> None:
        """Wake the class when a rejection may turn by itself (`Reject.retry_at`)."""
        if outcome.retry_at is None:
            return
        now = self._clock.now.ticks
        at = max(self._clock.tick_of(outcome.retry_at), now + _SMALLEST_PAUSE)
        if waiting.arm(at, now):
            self._timers.at(
                at,
                # While its only Run is being scheduled the class is empty, and the timer is as due as before.
                lambda: waiting.retry_at == at and (waiting.size > 0 or waiting.in_cycle),
                lambda: self._queue.unschedulable.wake(waiting, WakeupSource.TIMER),
            )

    # The waiting text

    def _show(self, work: PlanWork, outcome: Unschedulable, message: WaitingMessage) -> None:
        """Record why a Run waits, and write that text if it does not stand there already."""
        entry, text = work.entry, message.text
        decision = work.decision(
            outcome=Outcome.WAITING,
            reason=message.reason,
            message=text,
            furthest=message.place,
            verdicts=outcome.verdicts,
        )
        self._journal.note(entry.decide(decision), decision)
        entry.show(text)
        # While another write is in flight, what stands is not known: decided again after its answer.
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
        self._journal.note(entry.decide(decision), decision)

    def plugin_failed(self, work: RunWork, error: PluginError) -> None:
        """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""
        entry = work.entry
        self.count_error(error)
        self._counters.synced(SyncResult.SELECTION_ERROR)
        until = self._clock.wall_at(self._queue.back_off(entry))
        message = entry.observation.message
        decision = work.decision(
            outcome=Outcome.BACKOFF, reason="PluginError", message=message, until=until, error=error
        )
        self._journal.note(entry.decide(decision), decision)

    def count_error(self, error: PluginError) -> None:
        """Count a plugin's failure."""
        self._counters.plugin_failed(error.plugin, error.hook)


def waiting_message_of(entry: RunEntry, profile: Profile, outcome: Unschedulable) -> WaitingMessage:
    """Why the Run waits; a Pod that was reserved in vain had passed every filter."""
    if not entry.turned_down:
        return outcome.waiting_message
    last = list(entry.turned_down.values())[-1]
    completion = BASE_COMPLETION
    for plugin in profile.plugins:
        if plugin.name == last.plugin:
            # A profile that was loaded meanwhile may have built it with other reasons.
            completion = plugin.reasons.get(last.reject.reason, BASE_COMPLETION)
    text = waiting_text(completion, entry.run.runtime)
    return WaitingMessage(last.reject.reason, text, last.plugin, len(profile.plugins))


def is_news(before: Decision | None, waiting: EquivalenceClass | None, message: WaitingMessage) -> bool:
    """Whether a Run that waited shows another reason now. before: what was decided of it last.

    In a cycle of its own, always. When its class was tried with changed Pods, only if they got further
    than those before, or as far and for another reason: else the text of a Run that can never be placed
    would change, and be written, each time that other Runs come and go.
    """
    if waiting is None or waiting.swept or before is None:
        return True
    if before.outcome is not Outcome.WAITING:
        return True
    if message.place == before.furthest:
        return message.text != before.message
    return message.place > before.furthest
