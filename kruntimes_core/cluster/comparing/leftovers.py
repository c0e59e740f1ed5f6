"""Decisions that the running scheduler does not follow: for how long they count, and what is said of them."""

from __future__ import annotations

from kruntimes_core.cluster.api_dispatcher.answers import NOT_SENT
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.comparing.concluding import ours
from kruntimes_core.cluster.comparing.difference import Difference
from kruntimes_core.cluster.comparing.holds import Hold, Holds
from kruntimes_core.cluster.comparing.kinds import Hint, Kind, NotCompared
from kruntimes_core.cluster.comparing.report import Report
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Read, Refused, Write, WriteKind
from kruntimes_core.engine.cache import RunKey
from kruntimes_core.engine.clock import ticks
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.runs import RunEntry

PATIENCE_SECONDS = 30.0
"""For how long a decision is held before it counts as not followed. A scheduler that works decides within
a second; meanwhile what is reserved here keeps other Runs out, so it is not for ever."""

_NOT_FOLLOWED = Refused(0, retry_after=3600.0)
"""It was never sent; the Run is tried again after the longest backoff, and not before."""


class Leftovers:
    """Holds what is to be written, until it is done by others, or time is up. A `WriteHolder`."""

    def __init__(
        self, *, engine: Engine, clock: Clock, holds: Holds, report: Report, patience_seconds: float
    ) -> None:
        """patience_seconds: for how long a write is held."""
        self._engine = engine
        self._clock = clock
        self._holds = holds
        self._report = report
        self._patience = ticks(patience_seconds)
        self._reported: set[RunKey] = set()

    # As a holder

    def hold(self, write: Write) -> None:
        """See `WriteHolder`."""
        self._holds.add(write)

    def was_read(self, read: Read) -> None:
        """See `WriteHolder`. What a read shows is seen by no watch, so it is not compared."""
        self.review()

    def let_go(self) -> None:
        """See `WriteHolder`."""
        for hold in self._holds:
            self._drop(hold, NotCompared.STOPPED)

    # For a comparer

    def reported(self, key: RunKey) -> bool:
        """Whether a Run was reported as left, and nothing has become of it since."""
        return key in self._reported

    def forget(self, key: RunKey) -> bool:
        """Something became of a Run. True if it was reported as left."""
        known = key in self._reported
        self._reported.discard(key)
        return known

    def gone(self, event: events.RunGone) -> None:
        """A Run was deleted."""
        hold = self._holds.of((event.namespace, event.uid))
        if hold is not None:
            self._drop(hold, NotCompared.GONE)
        self._reported.discard((event.namespace, event.uid))

    def review(self) -> None:
        """Runs may have gone, or been decided, unseen: end what is held for those."""
        for hold in self._holds:
            if self._holds.open_entry(hold) is None:
                self._drop(hold, self._why_closed(hold))
        self._reported = {key for key in self._reported if self._engine.knows(key)}

    def go_on(self) -> bool:
        """End the oldest hold if its time is up; False if there is none."""
        hold = self._holds.oldest
        if hold is None or self._clock.now().ticks - hold.at < self._patience:
            return False
        entry = self._holds.open_entry(hold)
        if entry is None:
            self._drop(hold, self._why_closed(hold))
        elif not self._engine.deciding:
            self._drop(hold, NotCompared.GAP)
        else:
            self._left(hold, entry)
        return True

    # Inside

    def _left(self, hold: Hold, entry: RunEntry) -> None:
        key, made = entry.key, entry.decision
        if made is not None and key not in self._reported:
            self._reported.add(key)
            says = entry.observation.message
            self._report.differ(
                Difference(
                    run=made.run,
                    kind=Kind.LEFT_WAITING if hold.write.kind is WriteKind.BIND else Kind.LEFT_UNENDED,
                    ours=ours(made),
                    theirs="pending",
                    # A text of ours was never written: what stands in its place is not known here.
                    detail=says if says != entry.waiting_text else "",
                    hints=(Hint.FOLLOWS,) if self._holds.misled(hold) else (),
                )
            )
        self._holds.end(hold, _NOT_FOLLOWED)

    def _drop(self, hold: Hold, why: NotCompared) -> None:
        key = (hold.write.namespace, hold.write.uid)
        if key not in self._reported:
            self._report.skip(why)
        self._holds.end(hold, NOT_SENT)

    def _why_closed(self, hold: Hold) -> NotCompared:
        known = self._engine.knows((hold.write.namespace, hold.write.uid))
        return NotCompared.GAP if known else NotCompared.GONE
