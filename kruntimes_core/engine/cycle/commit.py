"""Commit: check that the answers still hold, reserve, assume, bind; or let the Run wait or end."""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.binding.requests import PendingBind, PendingTerminal, PendingText
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.work import CheckWork, PlanWork, ReserveAnswer, ReserveWork, Work, _RunWork
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.queueing.order import greatest, key_of
from kruntimes_core.engine.record.decision import Decision, Outcome, TurnedDown
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Conflict, Result, WakeSource
from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.runner import (
    Broken,
    Chosen,
    Headline,
    Invalid,
    PlanOutcome,
    Prepared,
    Unschedulable,
)
from kruntimes_core.framework.texts import BASE_COMPLETION, waiting_text
from kruntimes_core.model.run import Phase
from kruntimes_core.model.transitions import is_waiting_text, waiting_patch

# The host's own reason when its capacity check turns a chosen Pod down.
INSUFFICIENT_CAPACITY = "InsufficientCapacity"


class Commit:
    """What follows on a plan."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._steps: deque[Work] = deque()
        """Work that goes on at once with a cycle under way."""
        self.greatest_key: object = None
        """The greatest queue key of the Runs placed so far."""

    def next_step(self) -> Work | None:
        """The next step of a cycle under way, if it was not made void meanwhile."""
        while self._steps:
            work = self._steps.popleft()
            if isinstance(work, ReserveWork) or work.entry.token == work.token:  # type: ignore[union-attr]
                return work
            self.settled(work)  # type: ignore[arg-type]
        return None

    def plan(self, entry: RunEntry, waiting: WaitingClass | None) -> PlanWork:
        """Take: the snapshot for a Run's plan, without the Pods that turned it down in this cycle."""
        core, run = self._core, entry.run
        core.waiting.withdraw(entry)
        entry.leave()
        entry.stage = Stage.WORKING
        return PlanWork(
            entry=entry,
            token=entry.token,
            run=run,
            profile=core.profile(run),
            waiting=waiting,
            snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
            version=core.state.version(run.namespace),
            excluded=tuple(entry.turned_down),
        )

    def planned(self, work: PlanWork, outcome: PlanOutcome) -> None:
        """A plan came back, and the Run is still the same."""
        if isinstance(outcome, Broken):
            self.broken(work, outcome.error)
        elif isinstance(outcome, Invalid):
            self.end(work.entry, Phase.FAILED, outcome.reason, outcome.message)
            self.settled(work)
        elif not self._holds(work, outcome.prepared):
            self._again(work)
        elif isinstance(outcome, Unschedulable):
            self._core.tally.rejected(outcome.rejections)
            self._wait(work, outcome)
            self.settled(work)
        else:
            self._core.tally.rejected(outcome.rejections)
            self._chosen(work, outcome, work.version)

    def checked(self, work: CheckWork, outcome: Chosen | Broken | None) -> None:
        """The chosen Pod was asked about again."""
        if isinstance(outcome, Broken):
            self.broken(work, outcome.error)
        elif outcome is None:
            self._again(work)
        else:
            self._chosen(work, outcome, work.version)

    # Reserve and Assume

    def _chosen(self, work: PlanWork | CheckWork, chosen: Chosen, version: int) -> None:
        """Reserve the chosen Pod if all that it was chosen by is the same, else ask again first."""
        core, entry, run = self._core, work.entry, work.run
        same_pod = core.state.pod(run.namespace, chosen.pod.name) is chosen.pod
        moved = core.needs(work.profile).snapshot_counts and version != core.state.version(run.namespace)
        if not same_pod or moved or not self._holds(work, chosen.prepared):
            self._check(work, chosen)
            return
        core.waiting.source = WakeSource.TARGET
        if not core.reservations.reserve(entry, chosen.pod, work.profile, chosen.prepared):
            core.tally.reservation_conflicts[Conflict.RESERVE] += 1
            self._turned_down(work, chosen.pod.name, TurnedDown(None, Reject(INSUFFICIENT_CAPACITY)))
            return
        entry.leave()
        entry.stage = Stage.BINDING
        if work.profile.implementing("reserve") and entry.assumption is not None:
            self._steps.append(
                ReserveWork(
                    entry=entry,
                    token=entry.token,
                    run=run,
                    profile=work.profile,
                    waiting=work.waiting,
                    assumption=entry.assumption,
                    snapshot=work.snapshot,
                )
            )
        else:
            self._bind(work)

    def _check(self, work: PlanWork | CheckWork, chosen: Chosen) -> None:
        core, run = self._core, work.run
        self._steps.append(
            CheckWork(
                entry=work.entry,
                token=work.entry.token,
                run=run,
                profile=work.profile,
                waiting=work.waiting,
                snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
                version=core.state.version(run.namespace),
                pod_name=chosen.pod.name,
            )
        )

    def reserved(self, work: ReserveWork, answer: ReserveAnswer) -> None:
        """The plugins' `reserve` was asked. The assumption may have ended meanwhile."""
        core, entry, assumption = self._core, work.entry, work.assumption
        assumption.asked = list(answer.asked)
        if entry.assumption is not assumption:
            core.reservations.give_back(assumption, bound=False)
            self.settled(work)
        elif answer.broken is not None:
            self._undo(entry)
            self.broken(work, answer.broken)
        elif answer.turned_down is not None:
            self._undo(entry)
            plugin, reject = answer.turned_down
            self._turned_down(work, assumption.pod.name, TurnedDown(plugin.name, reject))
        else:
            self._bind(work)

    def _undo(self, entry: RunEntry) -> None:
        self._core.waiting.source = WakeSource.RESERVATION_RELEASED
        self._core.reservations.end(entry, bound=False)

    def _turned_down(self, work: _RunWork, pod_name: str, by: TurnedDown) -> None:
        """Leave the Pod out and try the next best in the same cycle."""
        work.entry.turned_down[pod_name] = by
        self._steps.append(self.plan(work.entry, work.waiting))

    # Bind

    def _bind(self, work: _RunWork) -> None:
        core, entry = self._core, work.entry
        assumption = entry.assumption
        if assumption is None:
            raise AssertionError(f"run {entry.key} is to be bound without a reservation")
        core.outbox.put(entry, PendingBind(assumption))
        self.greatest_key = greatest(self.greatest_key, key_of(entry.order))
        standing = entry.observation.message
        self._note(entry, Outcome.SCHEDULED, "Assigned", "" if is_waiting_text(standing) else standing, work)
        if work.waiting is not None and work.waiting.swept and not work.waiting.awake:
            core.tally.rescues += 1
            work.waiting.awake = True
        self.settled(work)

    # Wait, end, fail

    def _wait(self, work: PlanWork, outcome: Unschedulable) -> None:
        """No feasible Pod: let the Run wait for a change, or for a time after a refused reserve."""
        core, entry, run = self._core, work.entry, work.run
        core.tally.syncs[Result.NO_PODS] += 1
        headline = self._headline(entry, outcome)
        if entry.turned_down:
            core.back_off(entry)
        else:
            needs = core.needs(work.profile)
            now = core.state.snapshot(run.namespace, run.runtime, core.now.wall)
            known_full = now.pods.changed_since(outcome.mark) == [] and not (
                needs.every_change and work.version != core.state.version(run.namespace)
            )
            waiting = core.waiting.park(entry, work.profile.name, outcome.prepared, needs, known_full)
            if outcome.again_at is not None:
                core.timers.at(
                    core.tick_of(outcome.again_at),
                    lambda: waiting.size > 0,
                    lambda: core.waiting.wake(waiting, WakeSource.TIMER),
                )
        self._note(entry, Outcome.WAITING, headline.reason, headline.text, work)
        self._say(entry, headline.text)

    def _headline(self, entry: RunEntry, outcome: Unschedulable) -> Headline:
        """Why the Run waits; a Pod that was reserved in vain had passed every filter."""
        if not entry.turned_down:
            return outcome.headline
        last = list(entry.turned_down.values())[-1]
        completion = BASE_COMPLETION
        for plugin in self._core.profile(entry.run).plugins:
            if plugin.name == last.plugin:
                completion = plugin.reasons[last.reject.reason]
        return Headline(last.reject.reason, waiting_text(completion, entry.run.runtime), last.plugin)

    def _say(self, entry: RunEntry, text: str) -> None:
        """Write why a Run waits, if that does not stand there already."""
        entry.text = text
        if waiting_patch(entry.observation, text) is None:
            entry.pending = None
        elif not isinstance(entry.pending, PendingText) or entry.pending.message != text:
            self._core.outbox.put(entry, PendingText(text))

    def end(self, entry: RunEntry, phase: Phase, reason: str, message: str) -> None:
        """End a Run as Cancelled or Failed."""
        entry.leave()
        entry.stage = Stage.ENDING
        self._core.outbox.put(entry, PendingTerminal(phase, reason, message))
        outcome = Outcome.CANCELLED if phase is Phase.CANCELLED else Outcome.FAILED
        self._core.journal.note(
            entry, Decision(run=entry.run, outcome=outcome, reason=reason, message=message)
        )

    def broken(self, work: _RunWork, error: PluginError) -> None:
        """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""
        core, entry = self._core, work.entry
        self.count_error(error)
        core.tally.syncs[Result.SELECTION_ERROR] += 1
        until = core.back_off(entry)
        self._note(entry, Outcome.BACKOFF, "PluginError", entry.observation.message, work, until, error)
        self.settled(work)

    def count_error(self, error: PluginError) -> None:
        """Count a plugin's failure."""
        self._core.tally.plugin_errors[error.plugin, error.hook] += 1

    def settled(self, work: _RunWork) -> None:
        """The cycle is over: the class that the Run came from goes on."""
        if work.waiting is not None:
            self._core.waiting.done(work.waiting)

    def _again(self, work: _RunWork) -> None:
        """Something changed that the answers were given from: plan again at once."""
        self._steps.append(self.plan(work.entry, work.waiting))

    def _holds(self, work: _RunWork, prepared: Prepared) -> bool:
        """Whether what the prefilters were told is still so."""
        state, run = self._core.state, work.run
        known = state.workspace(run.namespace, run.workspace) if run.workspace is not None else None
        told = prepared.workspace if prepared.workspace and prepared.workspace.phase != "Missing" else None
        return known == told and prepared.reads.hold(state.targets(run.namespace))

    def _note(
        self,
        entry: RunEntry,
        outcome: Outcome,
        reason: str,
        message: str,
        work: _RunWork,
        until: int | None = None,
        error: PluginError | None = None,
    ) -> None:
        pod = entry.assumption.pod if entry.assumption and outcome is Outcome.SCHEDULED else None
        self._core.journal.note(
            entry,
            Decision(
                run=entry.run,
                outcome=outcome,
                reason=reason,
                message=message,
                pod=pod,
                until=self._core.wall(until) if until is not None else None,
                profile=work.profile,
                snapshot=getattr(work, "snapshot", None),
                turned_down=dict(entry.turned_down),
                error=error,
            ),
        )
