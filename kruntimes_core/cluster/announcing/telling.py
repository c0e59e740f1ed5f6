"""What is said, from the same record that the status message is made of.

A note names neither Pods nor other Runs nor selectors, and nothing that a plugin or a user wrote but
what `status.message` says of a waiting Run: Events are read by more people than Runs are.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from kruntimes_core.cluster.announcing.announcement import (
    Announcement,
    pod_reference,
    reference_to_run,
    run_reference,
)
from kruntimes_core.cluster.announcing.lasting import Kind, Spell
from kruntimes_core.cluster.announcing.reasons import Reason
from kruntimes_core.engine.api_calls import (
    PendingBind,
    PendingTerminal,
    ReadAnswer,
    Refused,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.decisions import Decision, NeverFits, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase, Run

NEVER = "no runtime pod advertises that much room, even when idle"


class NotSaid(Enum):
    """Why there is nothing to say of a Run."""

    OVER = "over"
    """It is not held back any more."""
    EARLY = "early"
    """It is, and may be placed by the next try for all that is known."""


class Teller:
    """Says what holds a Run back, as it stands when it is asked."""

    def __init__(self, engine: Engine, after: int) -> None:
        """after: for how long a failure must last, in ticks."""
        self._engine = engine
        self._after = after
        self._never_fits = NeverFits()

    def lasting(self, spell: Spell, now: Now) -> Announcement | NotSaid:
        """What holds the Run back."""
        entry = self._engine.find(spell.key[0], spell.name)
        if entry is None or entry.key != spell.key or entry.decision is None:
            return NotSaid.OVER
        if entry.observation.phase is not Phase.PENDING or entry.observation.deleting:
            return _ended(spell, entry, entry.decision)
        if spell.kind is not Kind.WAITING and spell.last - spell.since < self._after:
            # One failure of a Run that has waited for long, or then queues for long, does not last.
            return NotSaid.EARLY
        if spell.kind is Kind.UNWRITTEN:
            return _said(Reason.FAILED_UPDATE_STATUS, entry.run, spell.refusal)
        if entry.decision.error is not None:
            return _said(Reason.PLUGIN_ERROR, entry.run, _failure(entry.decision.error))
        if entry.decision.outcome is Outcome.WAITING:
            return self._waits(entry.decision, now)
        return NotSaid.OVER

    def _waits(self, decision: Decision, now: Now) -> Announcement:
        run = decision.run
        known = self._engine.cache.snapshot(run.namespace, run.runtime, now.wall)
        if self._never_fits.of(replace(decision, snapshot=known)):
            return _said(Reason.NEVER_FITS, run, f"{decision.message}: {NEVER}")
        return _said(Reason.FAILED_SCHEDULING, run, decision.message)


def refusal(answer: WriteAnswer | ReadAnswer) -> str:
    """Why a status is not as was decided."""
    if isinstance(answer, Refused) and answer.status:
        return f"what was decided cannot be written: the API server answers {answer.status}"
    return "what was decided cannot be written: the API server gives no clear answer"


def invalid(write: Write, pending: PendingTerminal) -> Announcement:
    """A Run was ended as Failed."""
    return _invalid(write.namespace, write.name, write.uid, pending.reason)


def scheduled(write: Write, pending: PendingBind) -> Announcement:
    """A Run was bound."""
    run = reference_to_run(write.namespace, write.name, write.uid)
    pod = pod_reference(pending.assumption.pod)
    return Announcement(Reason.SCHEDULED, run, "assigned to a runtime pod", pod)


def oversold(pod: RuntimePod, run: Run | None) -> Announcement:
    """A Pod was seen to hold more than it has. run: with which that was seen, if it was with one."""
    note = "its runs request more than it advertises"
    related = run_reference(run) if run is not None else None
    return Announcement(Reason.RUNTIME_POD_OVERSOLD, pod_reference(pod), note, related)


def _ended(spell: Spell, entry: RunEntry, decision: Decision) -> Announcement | NotSaid:
    """An end as Failed whose answer was lost is told of as any other."""
    unwritten = spell.kind is Kind.UNWRITTEN and decision.outcome is Outcome.FAILED
    if not unwritten or entry.observation.phase is not Phase.FAILED:
        return NotSaid.OVER
    return _invalid(entry.run.namespace, entry.run.name, entry.run.uid, decision.reason)


def _invalid(namespace: str, name: str, uid: str, reason: str) -> Announcement:
    note = f"can never be scheduled ({reason}): status.message says what to correct"
    return Announcement(Reason.INVALID_RUN, reference_to_run(namespace, name, uid), note)


def _failure(error: PluginError) -> str:
    """What it raised may hold anything: it stays in the log."""
    return f"plugin {error.plugin} ({error.origin}) fails in {error.hook}: the scheduler's log says how"


def _said(reason: Reason, run: Run, note: str) -> Announcement:
    return Announcement(reason, run_reference(run), note)
