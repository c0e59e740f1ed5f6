"""What a host tells of while it works. Nothing here costs more than a look into a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventReason,
    pod_reference,
    reference_to_run,
    run_reference,
)
from kruntimes_core.cluster.event_recorder.event_queue import EventQueue, Lane
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    ConditionKind,
    NoEvent,
    PendingCondition,
    PendingConditions,
)
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import (
    Applied,
    PendingBind,
    PendingTerminal,
    ReadAnswer,
    Refused,
    Request,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.cache import RunKey
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.decisions import Decision, NeverFits, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase, Run

_NOT_FOUND = 404
# Whether these stand is known when they were written, and that may fail for long.
_TO_BE_WRITTEN = (Outcome.SCHEDULED, Outcome.FAILED, Outcome.CANCELLED)


class EventSources:
    """Notes what may come to last, and queues what is to be said at once."""

    def __init__(
        self,
        *,
        lasting: PendingConditions,
        lanes: EventQueue,
        clock: Clock,
        may_speak: Callable[[], bool],
        stir: Callable[[], None],
        dropped: Callable[[EventReason], None],
        placements: bool,
    ) -> None:
        """stir: called when something is to be said at once. dropped: told what could not be noted.

        placements: whether binds are told of.
        """
        self._lasting = lasting
        self._lanes = lanes
        self._clock = clock
        self._may_speak = may_speak
        self._stir = stir
        self._dropped = dropped
        self._placements = placements

    def decided(self, decision: Decision) -> None:
        """A decision that differs from the one before: a listener of the journal."""
        run = decision.run
        key = (run.namespace, run.uid)
        if decision.error is not None:
            self._begins(key, run.name, ConditionKind.BROKEN)
        elif decision.outcome is Outcome.WAITING:
            self._begins(key, run.name, ConditionKind.WAITING)
        elif decision.outcome not in _TO_BE_WRITTEN or not self._is_unwritten(key):
            self._lasting.ends(key)

    def answered(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        """What came of a request. Texts do not matter: what they say is told of anyway."""
        if not isinstance(request, Write) or not isinstance(request.pending, PendingBind | PendingTerminal):
            return
        key = (request.namespace, request.uid)
        if isinstance(answer, Applied):
            self._lasting.ends(key)
            self._applied(request)
        elif isinstance(answer, Refused) and answer.status == _NOT_FOUND:
            self._lasting.ends(key)
        else:
            self._begins(key, request.name, ConditionKind.UNWRITTEN, refusal(answer))

    def observed(self, event: events.Event) -> None:
        """What happened in the cluster."""
        if isinstance(event, events.RunGone):
            self._lasting.ends((event.namespace, event.uid))

    def oversold(self, pod: RuntimePod, run: Run | None) -> None:
        """A Pod was seen to become oversold: whoever decides says so."""
        if self._may_speak():
            self._say(Lane.AT_ONCE, oversold(pod, run))

    def _applied(self, write: Write) -> None:
        pending = write.pending
        if isinstance(pending, PendingTerminal) and pending.phase is Phase.FAILED:
            self._say(Lane.AT_ONCE, invalid(write, pending))
        elif isinstance(pending, PendingBind) and self._placements:
            self._say(Lane.PLACEMENTS, scheduled(write, pending))

    def _say(self, lane: Lane, announcement: EventContent) -> None:
        if not self._lanes.put(lane, announcement):
            self._dropped(announcement.reason)
        self._stir()

    def _begins(self, key: RunKey, name: str, kind: ConditionKind, refusal: str = "") -> None:
        spell = self._lasting.begins(key, name, kind, self._clock.now().ticks)
        if spell is None:
            self._dropped(kind.value)
        elif kind is ConditionKind.UNWRITTEN:
            spell.refusal = refusal

    def _is_unwritten(self, key: RunKey) -> bool:
        spell = self._lasting.of(key)
        return spell is not None and spell.kind is ConditionKind.UNWRITTEN


NEVER = "no runtime pod advertises that much room, even when idle"


class ConditionEvents:
    """Says what holds a Run back, as it stands when it is asked."""

    def __init__(self, engine: Engine, after: int) -> None:
        """after: for how long a failure must last, in ticks."""
        self._engine = engine
        self._after = after
        self._never_fits = NeverFits()

    def lasting(self, spell: PendingCondition, now: Now) -> EventContent | NoEvent:
        """What holds the Run back."""
        entry = self._engine.find(spell.key[0], spell.name)
        if entry is None or entry.key != spell.key or entry.decision is None:
            return NoEvent.OVER
        if entry.observation.phase is not Phase.PENDING or entry.observation.deleting:
            return _ended(spell, entry, entry.decision)
        if spell.kind is not ConditionKind.WAITING and spell.last - spell.since < self._after:
            # One failure of a Run that has waited for long, or then queues for long, does not last.
            return NoEvent.EARLY
        if spell.kind is ConditionKind.UNWRITTEN:
            return _said(EventReason.FAILED_UPDATE_STATUS, entry.run, spell.refusal)
        if entry.decision.error is not None:
            return _said(EventReason.PLUGIN_ERROR, entry.run, _failure(entry.decision.error))
        if entry.decision.outcome is Outcome.WAITING:
            return self._waits(entry.decision, now)
        return NoEvent.OVER

    def _waits(self, decision: Decision, now: Now) -> EventContent:
        run = decision.run
        known = self._engine.cache.snapshot(run.namespace, run.runtime, now.wall)
        if self._never_fits.of(replace(decision, snapshot=known)):
            return _said(EventReason.NEVER_FITS, run, f"{decision.message}: {NEVER}")
        return _said(EventReason.FAILED_SCHEDULING, run, decision.message)


def refusal(answer: WriteAnswer | ReadAnswer) -> str:
    """Why a status is not as was decided."""
    if isinstance(answer, Refused) and answer.status:
        return f"what was decided cannot be written: the API server answers {answer.status}"
    return "what was decided cannot be written: the API server gives no clear answer"


def invalid(write: Write, pending: PendingTerminal) -> EventContent:
    """A Run was ended as Failed."""
    return _invalid(write.namespace, write.name, write.uid, pending.reason)


def scheduled(write: Write, pending: PendingBind) -> EventContent:
    """A Run was bound."""
    run = reference_to_run(write.namespace, write.name, write.uid)
    pod = pod_reference(pending.assumption.pod)
    return EventContent(EventReason.SCHEDULED, run, "assigned to a runtime pod", pod)


def oversold(pod: RuntimePod, run: Run | None) -> EventContent:
    """A Pod was seen to hold more than it has. run: with which that was seen, if it was with one."""
    note = "its runs request more than it advertises"
    related = run_reference(run) if run is not None else None
    return EventContent(EventReason.RUNTIME_POD_OVERSOLD, pod_reference(pod), note, related)


def _ended(spell: PendingCondition, entry: RunEntry, decision: Decision) -> EventContent | NoEvent:
    """An end as Failed whose answer was lost is told of as any other."""
    unwritten = spell.kind is ConditionKind.UNWRITTEN and decision.outcome is Outcome.FAILED
    if not unwritten or entry.observation.phase is not Phase.FAILED:
        return NoEvent.OVER
    return _invalid(entry.run.namespace, entry.run.name, entry.run.uid, decision.reason)


def _invalid(namespace: str, name: str, uid: str, reason: str) -> EventContent:
    note = f"can never be scheduled ({reason}): status.message says what to correct"
    return EventContent(EventReason.INVALID_RUN, reference_to_run(namespace, name, uid), note)


def _failure(error: PluginError) -> str:
    """What it raised may hold anything: it stays in the log."""
    return f"plugin {error.plugin} ({error.origin}) fails in {error.hook}: the scheduler's log says how"


def _said(reason: EventReason, run: Run, note: str) -> EventContent:
    return EventContent(reason, run_reference(run), note)
