"""What a cycle that places nothing comes to: the Run waits, ends, or is tried again later."""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.binding.requests import HeldText, PendingTerminal, PendingText
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.headlines import headline_of, is_news
from kruntimes_core.engine.cycle.work import Offer, OfferWork, PlanWork, RunWork
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.record.decision import Decision, Outcome
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Result, WakeSource
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.runtime import Unschedulable, WaitingMessage
from kruntimes_core.model.run import Phase
from kruntimes_core.model.transitions import is_waiting_text, status_message, waiting_patch


class Verdicts:
    """Writes down what was decided, and says it where a user looks."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def scheduled(self, work: RunWork) -> None:
        """The Run is assumed and its bind is on the way."""
        entry = work.entry
        standing = entry.observation.message
        message = "" if is_waiting_text(standing) else standing
        made = entry.assumption
        self._note(
            work,
            outcome=Outcome.SCHEDULED,
            reason="Assigned",
            message=message,
            pod=made.pod if made is not None else None,
            verdicts=made.verdicts if made is not None else None,
        )

    def wait(self, work: PlanWork, outcome: Unschedulable) -> None:
        """No feasible Pod: let the Run wait for a change, or for a time after a refused reserve."""
        core, entry = self._core, work.entry
        core.tally.syncs[Result.NO_PODS] += 1
        headline = headline_of(entry, core.profile(entry.run), outcome)
        if entry.turned_down:
            core.back_off(entry)
        else:
            self._park(work, outcome)
        if is_news(entry.decision, work.waiting, headline):
            self._tell(work, outcome, headline)

    def stay(self, work: OfferWork, offer: Offer, outcome: Unschedulable, known_full: bool) -> None:
        """No feasible Pod for the first Run of a class: it waits on where it is. known_full: see there."""
        core = self._core
        core.tally.syncs[Result.NO_PODS] += 1
        core.waiting.stays(offer.waiting, offer.entry, outcome.prefilter_state, known_full)
        if outcome.retry_at is not None:
            self._wake_at(offer.waiting, core.tick_of(outcome.retry_at))
        if is_news(offer.entry.decision, offer.waiting, outcome.waiting_message):
            own = PlanWork(
                entry=offer.entry,
                token=offer.token,
                run=offer.run,
                profile=work.profile,
                snapshot=work.snapshot,
                version=work.version,
            )
            self._tell(own, outcome, outcome.waiting_message)

    def _tell(self, work: PlanWork, outcome: Unschedulable, headline: WaitingMessage) -> None:
        """Note and write why a Run waits."""
        self._note(
            work,
            outcome=Outcome.WAITING,
            reason=headline.reason,
            message=headline.text,
            furthest=headline.place,
            verdicts=outcome.verdicts,
        )
        self._say(work.entry, headline.text)

    def end(self, entry: RunEntry, phase: Phase, reason: str, message: str) -> None:
        """End a Run as Cancelled or Failed."""
        entry.leave()
        entry.stage = Stage.ENDING
        self._core.outbox.put(entry, PendingTerminal(phase, reason, message))
        outcome = Outcome.CANCELLED if phase is Phase.CANCELLED else Outcome.FAILED
        text = status_message(message)
        self._core.journal.note(entry, Decision(run=entry.run, outcome=outcome, reason=reason, message=text))

    def broken(self, work: RunWork, error: PluginError) -> None:
        """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""
        core, entry = self._core, work.entry
        self.count_error(error)
        core.tally.syncs[Result.SELECTION_ERROR] += 1
        until = core.wall(core.back_off(entry))
        self._note(
            work,
            outcome=Outcome.BACKOFF,
            reason="PluginError",
            message=entry.observation.message,
            until=until,
            error=error,
        )

    def count_error(self, error: PluginError) -> None:
        """Count a plugin's failure."""
        self._core.tally.plugin_errors[error.plugin, error.hook] += 1

    def _park(self, work: PlanWork, outcome: Unschedulable) -> None:
        """Into its class: asleep if nothing changed since the take that was not answered for."""
        core = self._core
        waiting = core.waiting.park(
            work.entry,
            work.profile.name,
            outcome.prefilter_state,
            core.needs(work.profile),
            known_full=self.known_full(work),
        )
        if outcome.retry_at is not None:
            self._wake_at(waiting, core.tick_of(outcome.retry_at))

    def known_full(self, work: PlanWork | OfferWork) -> bool:
        """Whether nothing changed since the take that the Run was not answered for."""
        core, run = self._core, work.run
        if core.state.pods_of(run.namespace, run.runtime).changed_since(work.snapshot.pods.mark) != []:
            return False
        needs = core.needs(work.profile)
        anything = needs.every_change or needs.prepare_again
        return not (anything and work.version != core.state.version(run.namespace))

    def _wake_at(self, waiting: WaitingClass, at: int) -> None:
        core = self._core
        if waiting.alarm is not None and core.now.ticks < waiting.alarm <= at:
            return
        waiting.alarm = at
        core.timers.at(
            at,
            # While its only Run is in work the class is empty, and the alarm is as due as before.
            lambda: waiting.alarm == at and (waiting.size > 0 or waiting.busy),
            lambda: core.waiting.wake(waiting, WakeSource.TIMER),
        )

    def _say(self, entry: RunEntry, text: str) -> None:
        """Write why a Run waits, if that does not stand there already.

        While another write is under way, nobody knows what will stand there: asked again after it.
        """
        entry.text = text
        if entry.sent is None and waiting_patch(entry.observation, text) is None:
            entry.pending = None
        elif not isinstance(entry.pending, PendingText | HeldText) or entry.pending.message != text:
            self._say_soon(entry, text)

    def _say_soon(self, entry: RunEntry, text: str) -> None:
        core = self._core
        delay = core.settings.text_delay
        if delay:
            core.outbox.hold(entry, text, core.now.ticks + delay)
        else:
            core.outbox.put(entry, PendingText(text))

    def _note(self, work: RunWork, **what: Any) -> None:
        decision = Decision(
            run=work.run,
            profile=work.profile,
            snapshot=getattr(work, "snapshot", None),
            turned_down=work.entry.turned_down,
            **what,
        )
        self._core.journal.note(work.entry, decision)
