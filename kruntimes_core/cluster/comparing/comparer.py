"""What was decided here beside what the running scheduler did, compared when its decision is observed.

A Run is looked at twice for each event: before the engine takes it in, because an answer must be judged
by what was known then, and after, when it is sure that the event counted.
"""

from __future__ import annotations

from kruntimes_core.cluster.api_dispatcher.answers import NOT_SENT
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.comparing.concluding import ours
from kruntimes_core.cluster.comparing.difference import Difference
from kruntimes_core.cluster.comparing.holds import Holds
from kruntimes_core.cluster.comparing.kinds import Hint, Kind, NotCompared
from kruntimes_core.cluster.comparing.leftovers import Leftovers
from kruntimes_core.cluster.comparing.placements import Placements
from kruntimes_core.cluster.comparing.report import Report
from kruntimes_core.cluster.comparing.sighting import Look, Sighting, pending_run, sight
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Refused
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.run import Phase

_CONFLICT = Refused(409)
"""What the server would say to a write that is held, once the Run has changed."""
_ENDS = {Phase.FAILED: Outcome.FAILED, Phase.CANCELLED: Outcome.CANCELLED}


class Comparer:
    """Hears of each event before and after the engine does."""

    def __init__(
        self,
        *,
        engine: Engine,
        clock: Clock,
        holds: Holds,
        leftovers: Leftovers,
        placements: Placements,
        report: Report,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._holds = holds
        self._leftovers = leftovers
        self._placements = placements
        self._report = report
        self._look: Look | None = None

    def before(self, event: events.Event) -> None:
        """The engine is about to take an event in."""
        self._look = None
        entry = pending_run(self._engine, event)
        if entry is None or not isinstance(event, events.RunObserved):
            return
        hold = self._holds.of(entry.key)
        sighting = sight(entry, event.observation, hold)
        misled, crowded = self._misled(sighting), self._crowded(sighting)
        if hold is not None and event.observation.active and not sighting.same_pod:
            # What is reserved here must not count when the plugins are asked what they say by now.
            self._holds.end(hold, NOT_SENT)
        run = entry.run
        snapshot = self._engine.cache.snapshot(run.namespace, run.runtime, self._clock.now().wall)
        self._look = Look(sighting, snapshot, misled, crowded)

    def after(self, event: events.Event) -> None:
        """The engine has taken an event in."""
        look, self._look = self._look, None
        if look is not None and look.sighting.entry.observation is look.sighting.seen:
            self._observed(look)
        elif isinstance(event, events.RunGone):
            self._leftovers.gone(event)
        elif isinstance(event, events.RunsListed):
            self._leftovers.review()

    def _misled(self, sighting: Sighting) -> bool:
        hold = sighting.hold
        decided = sighting.seen.phase is not Phase.PENDING and not sighting.same_pod
        return decided and hold is not None and self._holds.misled(hold)

    def _crowded(self, sighting: Sighting) -> bool:
        pod = sighting.seen.assigned_pod if not sighting.same_pod else None
        return pod is not None and self._holds.reserve(sighting.entry.key, pod)

    def _observed(self, look: Look) -> None:
        sighting = look.sighting
        if sighting.seen.phase is Phase.PENDING:
            if not sighting.same_question:
                self._changed(sighting)
            return
        self._decided(look)
        self._leftovers.forget(sighting.entry.key)
        if sighting.hold is not None and self._holds.of(sighting.entry.key) is sighting.hold:
            self._holds.end(sighting.hold, NOT_SENT, followed=sighting.same_pod)

    def _changed(self, sighting: Sighting) -> None:
        """It asks for something else: what is held for it is not what would be done any more."""
        late = self._leftovers.forget(sighting.entry.key)
        if sighting.hold is not None:
            self._holds.end(sighting.hold, _CONFLICT)
            if not late:
                self._report.skip(NotCompared.CHANGED)

    def _decided(self, look: Look) -> None:
        """The running scheduler placed or ended it."""
        sighting = look.sighting
        skipped = self._why_not(sighting)
        if skipped is not None:
            self._report.skip(skipped)
        elif sighting.decision is not None and sighting.seen.active:
            self._placements.compare(look, sighting.decision)
        elif sighting.decision is not None:
            self._ended(look, sighting.decision)

    def _why_not(self, sighting: Sighting) -> NotCompared | None:
        """Why there is nothing to compare."""
        seen = sighting.seen
        if not self._engine.deciding or not (seen.active or seen.phase in _ENDS):
            return NotCompared.GAP
        if self._leftovers.reported(sighting.entry.key):
            return NotCompared.LATE
        if not sighting.same_question:
            return NotCompared.CHANGED
        return NotCompared.BEFORE if sighting.decision is None else None

    def _ended(self, look: Look, decision: Decision) -> None:
        theirs = _ENDS[look.sighting.seen.phase]
        if decision.outcome is theirs:
            self._report.agree()
            return
        otherwise = decision.outcome in _ENDS.values()
        self._report.differ(
            Difference(
                run=decision.run,
                kind=Kind.ENDED_OTHERWISE if otherwise else Kind.ENDED,
                ours=ours(decision),
                theirs=theirs.lower(),
                detail=look.sighting.seen.message,
                hints=(Hint.FOLLOWS,) if look.misled else (),
            )
        )
