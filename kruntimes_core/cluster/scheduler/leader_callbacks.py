"""Leadership callbacks: a scheduler decides while it leads, and all that it knows was listed since."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.api_dispatcher import ApiDispatcher
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.informers.reflector import Informers
from kruntimes_core.cluster.leader_election.protocol import Leadership
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.health_checks import HealthChecks
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.engine.engine import Engine


class SchedulerLeadership:
    """What a change of the leadership means for engine, informers and dispatcher."""

    def __init__(
        self,
        *,
        leadership: Leadership,
        informers: Informers,
        health: HealthChecks,
        engine: Engine,
        dispatcher: ApiDispatcher,
        clock: Clock,
        log: Log,
        wake: Callable[[], None],
    ) -> None:
        """wake: called when there may be something to do."""
        self.deciding = False
        self.stopping = False
        self.catch_up_seconds = 0.0
        """From when it began to lead until it decided, the last time."""
        self._leadership = leadership
        self._informers = informers
        self._health = health
        self._engine = engine
        self._dispatcher = dispatcher
        self._clock = clock
        self._log = log
        self._wake = wake
        self._leading = False
        self._since = 0

    # Callbacks of the leadership

    def changed(self) -> None:
        """See `LeaderCallbacks`; and called whenever what is followed changed."""
        leading = self._leadership.leading
        if leading and self._leadership.since != self._since:
            # A former leader may have bound Runs that no watch has shown yet.
            self._since = self._leadership.since
            self._informers.relist()
        self._decide(leading and self._informers.synced and not self.stopping)
        if self._leading and not leading:
            self._dispatcher.abandon()
        self._leading = leading

    def why_not_begin(self) -> str:
        """See `LeaderCallbacks`."""
        if self.stopping:
            return "the scheduler is stopping"
        return self._informers.problem or self._health.unfit()

    def why_not_go_on(self) -> str:
        """See `LeaderCallbacks`."""
        return self._health.unfit()

    # Calls of the scheduler

    def look(self) -> None:
        """Leading ends by the clock alone, whether or not the leadership could call back."""
        if self._leadership.leading != self._leading:
            self.changed()

    def stop(self) -> None:
        """Decide nothing any more."""
        self.stopping = True
        self.changed()

    async def release(self) -> None:
        """Let another lead at once, unless a write may still be applied."""
        longest = ticks(self._leadership.limits.unknown_outcome_seconds)
        unknown = self._dispatcher.unknown_outcomes(self._clock.now().ticks - longest)
        if unknown:
            self._log.warning("outcomes of writes are unknown: the lease is left to expire", writes=unknown)
        else:
            await self._leadership.release()

    def _decide(self, deciding: bool) -> None:
        if deciding == self.deciding:
            return
        self.deciding = deciding
        now = self._clock.now()
        if deciding:
            self._engine.lead(now)
            self.catch_up_seconds = (now.ticks - self._since) / SECOND if self._since else 0.0
        else:
            self._engine.stand_down(now)
        self._log.info("deciding" if deciding else "not deciding")
        self._wake()
