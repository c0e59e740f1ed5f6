"""When a host decides: while it leads, and all that it knows is true and was listed since."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.host.leadership import Leadership
from kruntimes_core.cluster.host.vitals import Vitals
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.watching.followers import Followers
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.engine.engine import Engine


class Duty:
    """The candidate of a leadership, and what its changes mean for engine, watches and writer."""

    def __init__(
        self,
        *,
        leadership: Leadership,
        followers: Followers,
        vitals: Vitals,
        engine: Engine,
        writer: Writer,
        clock: Clock,
        log: Log,
        stir: Callable[[], None],
    ) -> None:
        """stir: called when there may be something to do."""
        self.deciding = False
        self.stopping = False
        self.catch_up_seconds = 0.0
        """From when it began to lead until it decided, the last time."""
        self._leadership = leadership
        self._followers = followers
        self._vitals = vitals
        self._engine = engine
        self._writer = writer
        self._clock = clock
        self._log = log
        self._stir = stir
        self._leading = False
        self._since = 0

    # As a candidate

    def changed(self) -> None:
        """See `Candidate`; and called whenever what is followed changed."""
        leading = self._leadership.leading
        if leading and self._leadership.since != self._since:
            # A former leader may have bound what no watch has told yet.
            self._since = self._leadership.since
            self._followers.begin_anew()
        self._decide(leading and self._followers.current and not self.stopping)
        if self._leading and not leading:
            self._writer.abandon()
        self._leading = leading

    def why_not_begin(self) -> str:
        """See `Candidate`."""
        if self.stopping:
            return "the scheduler is stopping"
        return self._followers.problem or self._vitals.unfit()

    def why_not_go_on(self) -> str:
        """See `Candidate`."""
        return self._vitals.unfit()

    # As a part of the host

    def look(self) -> None:
        """Leading ends by the clock alone, whether or not anybody could tell."""
        if self._leadership.leading != self._leading:
            self.changed()

    def stop(self) -> None:
        """Decide nothing any more."""
        self.stopping = True
        self.changed()

    async def release(self) -> None:
        """Let another lead at once, unless a write may still be applied."""
        longest = ticks(self._leadership.limits.doubt_seconds)
        doubts = self._writer.in_doubt(self._clock.now().ticks - longest)
        if doubts:
            self._log.warning("writes are in doubt: the lease is left to expire", writes=doubts)
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
        self._stir()
