"""What a scheduler records Events about, and what they say.

A note names no Pods, no other Runs (it counts them) and no selectors. Of what plugins and users wrote, it
repeats only the `status.message` of a waiting Run: more people may read Events than Runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventReason,
    Lane,
    pod_reference,
    reference_to_run,
    run_reference,
)
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    ConditionKind,
    NoEvent,
    PendingCause,
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
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.decisions import Decision, NeverFits, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.framework.runtime import BASE_COMPLETION, waiting_text
from kruntimes_core.model.pod import RuntimePod, Unavailability
from kruntimes_core.model.run import Phase, Run
from kruntimes_core.model.snapshot import Snapshot

NEVER = "no runtime pod advertises that much room, even when idle"
OUTAGE = "no ready runtime pod has a fresh heartbeat"

_NOT_FOUND = 404
_KNOWN_FOR = SECOND
# Whether these hold is known when they were written, and that may fail for long.
_TO_BE_WRITTEN = (Outcome.SCHEDULED, Outcome.FAILED, Outcome.CANCELLED)


class EventSources:
    """Called for what happens in a scheduler. Each call costs no more than a look into a table."""

    def __init__(
        self,
        *,
        conditions: PendingConditions,
        clock: Clock,
        may_record: Callable[[], bool],
        add: Callable[[Lane, EventContent], None],
        dropped: Callable[[EventReason], None],
        placements: bool,
    ) -> None:
        """add: queues an Event. dropped: called when too many Runs are held back to note another one.

        placements: whether each bind makes an Event.
        """
        self._conditions = conditions
        self._clock = clock
        self._may_record = may_record
        self._add = add
        self._dropped = dropped
        self._placements = placements

    def decided(self, decision: Decision) -> None:
        """A decision differs from the one before: a listener of the journal."""
        run = decision.run
        key = (run.namespace, run.uid)
        if decision.error is not None:
            self._held_back(key, run.name, ConditionKind.BROKEN)
        elif decision.outcome is Outcome.WAITING:
            self._held_back(key, run.name, ConditionKind.WAITING)
        elif decision.outcome not in _TO_BE_WRITTEN or not self._is_unwritten(key):
            self._conditions.end(key)

    def answered(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        """A request was answered. Writes of messages do not matter: Events have the same text."""
        if not isinstance(request, Write) or not isinstance(request.pending, PendingBind | PendingTerminal):
            return
        key = (request.namespace, request.uid)
        if isinstance(answer, Applied):
            self._conditions.end(key)
            self._applied(request)
        elif isinstance(answer, Refused) and answer.status == _NOT_FOUND:
            self._conditions.end(key)
        else:
            self._held_back(key, request.name, ConditionKind.UNWRITTEN, _refusal(answer))

    def observed(self, event: events.Event) -> None:
        """The engine took an event in."""
        if isinstance(event, events.RunGone):
            self._conditions.end((event.namespace, event.uid))

    def oversold(self, pod: RuntimePod, run: Run | None) -> None:
        """A Pod was observed to hold more than it has. run: with which it was, if it was with one."""
        if self._may_record():
            note = "its runs request more than it advertises"
            related = run_reference(run) if run is not None else None
            oversold = EventContent(EventReason.RUNTIME_POD_OVERSOLD, pod_reference(pod), note, related)
            self._add(Lane.AT_ONCE, oversold)

    # Inside

    def _applied(self, write: Write) -> None:
        pending = write.pending
        if isinstance(pending, PendingTerminal) and pending.phase is Phase.FAILED:
            self._add(Lane.AT_ONCE, _invalid(write.namespace, write.name, write.uid, pending.reason))
        elif isinstance(pending, PendingBind) and self._placements:
            run = reference_to_run(write.namespace, write.name, write.uid)
            pod = pod_reference(pending.assumption.pod)
            scheduled = EventContent(EventReason.SCHEDULED, run, "assigned to a runtime pod", pod)
            self._add(Lane.PLACEMENTS, scheduled)

    def _held_back(self, key: RunKey, name: str, kind: ConditionKind, refusal: str = "") -> None:
        if not self._conditions.observe(key, name, kind, self._clock.now().ticks, refusal):
            self._dropped(kind.value)

    def _is_unwritten(self, key: RunKey) -> bool:
        condition = self._conditions.of(key)
        return condition is not None and condition.kind is ConditionKind.UNWRITTEN


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What holds a Run back, and the Run's place in the order of arrival."""

    cause: PendingCause
    arrival: int


class ConditionEvents:
    """What Events say of pending conditions, from the record that the status message is made of."""

    def __init__(self, engine: Engine, after: int) -> None:
        """after: for how long a failure must last, in ticks."""
        self._engine = engine
        self._after = after
        self._known: dict[tuple[str, str], WaitingCauses] = {}
        """By namespace and Runtime; for a moment, because it holds on to the Pods."""
        self._known_until = 0

    def of(self, condition: PendingCondition, now: Now) -> HeldBack | EventContent | NoEvent:
        """What holds the Run back at this moment, or the Event of a Run that has ended."""
        entry = self._engine.find(condition.key[0], condition.name)
        if entry is None or entry.key != condition.key or entry.decision is None:
            return NoEvent.OVER
        if entry.observation.phase is not Phase.PENDING or entry.observation.deleting:
            return _ended(condition, entry, entry.decision)
        if condition.kind is not ConditionKind.WAITING and condition.last - condition.since < self._after:
            # One failure of a Run that has waited for long, or then queues for long, does not last.
            return NoEvent.EARLY
        cause = self._cause(condition, entry.decision, now)
        return HeldBack(cause, entry.arrival) if cause is not None else NoEvent.OVER

    def _cause(self, condition: PendingCondition, decision: Decision, now: Now) -> PendingCause | None:
        run = decision.run
        if condition.kind is ConditionKind.UNWRITTEN:
            return PendingCause(
                run.namespace, run.runtime, EventReason.FAILED_UPDATE_STATUS, condition.refusal
            )
        if decision.error is not None:
            return PendingCause(
                run.namespace, run.runtime, EventReason.PLUGIN_ERROR, _failure(decision.error)
            )
        if decision.outcome is Outcome.WAITING:
            return self._waits(decision, now)
        return None

    def _waits(self, decision: Decision, now: Now) -> PendingCause:
        """By the Pods of now. Thousands of Runs are looked at together, with few different requests."""
        run = decision.run
        if now.ticks >= self._known_until:
            self._known.clear()
            self._known_until = now.ticks + _KNOWN_FOR
        runtime = run.namespace, run.runtime
        known = self._known.get(runtime)
        if known is None:
            known = self._known[runtime] = WaitingCauses(self._engine.cache.snapshot(*runtime, now.wall))
        return known.of(decision)


class WaitingCauses:
    """Why Runs of one Runtime wait, by what is known of its Pods at one moment."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._states = {pod.unavailable for pod in snapshot.pods.values()}
        self._never_fits = NeverFits()
        self._causes: dict[tuple[object, str], PendingCause] = {}
        """By request and text."""

    def of(self, decision: Decision) -> PendingCause:
        """Why the Run of a decision waits."""
        key = decision.run.request, decision.message
        if key not in self._causes:
            self._causes[key] = self._cause(decision)
        return self._causes[key]

    def _cause(self, decision: Decision) -> PendingCause:
        reason, note = EventReason.FAILED_SCHEDULING, decision.message
        if self._never_fits.of(replace(decision, snapshot=self._snapshot)):
            reason, note = EventReason.NEVER_FITS, f"{decision.message}: {NEVER}"
        elif None not in self._states:
            # No Pod is available, which holds all Runs back, whatever they waited for before.
            note = waiting_text(BASE_COMPLETION, decision.run.runtime)
            if Unavailability.HEARTBEAT_STALE in self._states:
                reason, note = EventReason.HEARTBEAT_STALE, f"{note}: {OUTAGE}"
        return PendingCause(decision.run.namespace, decision.run.runtime, reason, note)


def _ended(condition: PendingCondition, entry: RunEntry, decision: Decision) -> EventContent | NoEvent:
    """The write that failed the Run was applied, and its answer was lost: that makes an Event, too."""
    unwritten = condition.kind is ConditionKind.UNWRITTEN and decision.outcome is Outcome.FAILED
    if not unwritten or entry.observation.phase is not Phase.FAILED:
        return NoEvent.OVER
    return _invalid(entry.run.namespace, entry.run.name, entry.run.uid, decision.reason)


def _invalid(namespace: str, name: str, uid: str, reason: str) -> EventContent:
    note = f"can never be scheduled ({reason}): status.message says what to correct"
    return EventContent(EventReason.INVALID_RUN, reference_to_run(namespace, name, uid), note)


def _refusal(answer: WriteAnswer | ReadAnswer) -> str:
    """Why a status is not as was decided."""
    if isinstance(answer, Refused) and answer.status:
        return f"what was decided cannot be written: the API server answers {answer.status}"
    return "what was decided cannot be written: the API server gives no clear answer"


def _failure(error: PluginError) -> str:
    """What the plugin raised may hold anything: it stays in the log."""
    return f"plugin {error.plugin} ({error.origin}) fails in {error.hook}: the scheduler's log says how"
