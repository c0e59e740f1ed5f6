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
        self.listeners: list[Callable[[Decision], None]] = []
        """Told of each decision at once: the planner collects them, a host logs them."""

    def note(self, entry: RunEntry, decision: Decision) -> None:
        """Record a decision."""
        before = entry.decision
        entry.decision = decision
        if before is not None and _same(before, decision):
            return
        self.latest.append(decision)
        for listener in self.listeners:
            listener(decision)


def _same(before: Decision, after: Decision) -> bool:
    """Whether a Run that is tried again got the same answer."""
    return _essence(before) == _essence(after)


def _essence(decision: Decision) -> tuple[object, ...]:
    pod = decision.pod.uid if decision.pod is not None else None
    return (decision.outcome, decision.reason, decision.message, decision.until, pod, decision.run)
