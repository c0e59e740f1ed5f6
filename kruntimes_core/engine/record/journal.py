"""The latest decisions, in the order in which they were taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kruntimes_core.engine.record.decision import Decision
from kruntimes_core.engine.runs import RunEntry


class Journal:
    """Keeps the last decision of every Pending Run, and the latest ones of all.

    A Run that is tried again and has the same answer keeps its decision: nothing was decided.
    """

    def __init__(self, kept: int = 1000) -> None:
        self.latest: deque[Decision] = deque(maxlen=kept)
        self.listener: Callable[[Decision], None] | None = None
        """Told of each decision at once; the planner collects them."""

    def note(self, entry: RunEntry, decision: Decision) -> None:
        """Record a decision."""
        before = entry.decision
        entry.decision = decision
        if before is not None and _same(before, decision):
            return
        self.latest.append(decision)
        if self.listener is not None:
            self.listener(decision)


def _same(before: Decision, after: Decision) -> bool:
    """Whether a Run that waited still waits for the same."""
    return (before.outcome, before.reason, before.message, before.until, before.run) == (
        after.outcome,
        after.reason,
        after.message,
        after.until,
        after.run,
    )
