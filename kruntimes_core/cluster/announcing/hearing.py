"""What a host tells of while it works. Nothing here costs more than a look into a table."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.announcing.announcement import Announcement
from kruntimes_core.cluster.announcing.lanes import Lane, Lanes
from kruntimes_core.cluster.announcing.lasting import Kind, Lasting
from kruntimes_core.cluster.announcing.reasons import Reason
from kruntimes_core.cluster.announcing.telling import invalid, oversold, refusal, scheduled
from kruntimes_core.cluster.clock import Clock
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
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase, Run

_NOT_FOUND = 404
# Whether these stand is known when they were written, and that may fail for long.
_TO_BE_WRITTEN = (Outcome.SCHEDULED, Outcome.FAILED, Outcome.CANCELLED)


class Hearing:
    """Notes what may come to last, and queues what is to be said at once."""

    def __init__(
        self,
        *,
        lasting: Lasting,
        lanes: Lanes,
        clock: Clock,
        may_speak: Callable[[], bool],
        stir: Callable[[], None],
        dropped: Callable[[Reason], None],
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
            self._begins(key, run.name, Kind.BROKEN)
        elif decision.outcome is Outcome.WAITING:
            self._begins(key, run.name, Kind.WAITING)
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
            self._begins(key, request.name, Kind.UNWRITTEN, refusal(answer))

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

    def _say(self, lane: Lane, announcement: Announcement) -> None:
        if not self._lanes.put(lane, announcement):
            self._dropped(announcement.reason)
        self._stir()

    def _begins(self, key: RunKey, name: str, kind: Kind, refusal: str = "") -> None:
        spell = self._lasting.begins(key, name, kind, self._clock.now().ticks)
        if spell is None:
            self._dropped(kind.value)
        elif kind is Kind.UNWRITTEN:
            spell.refusal = refusal

    def _is_unwritten(self, key: RunKey) -> bool:
        spell = self._lasting.of(key)
        return spell is not None and spell.kind is Kind.UNWRITTEN
