"""What plugins are owed: an unreserve for each reserve, exactly once, when they can take it."""

from __future__ import annotations

from collections import deque
from collections.abc import Container

from kruntimes_core.cluster.planning.protocol import Done
from kruntimes_core.engine.plugin_work import UnreserveWork


class Owed:
    """Unreserves that could not be asked because their plugin was stuck."""

    def __init__(self) -> None:
        self.due: deque[tuple[UnreserveWork, Done]] = deque()
        """Those that can be asked now."""
        self._deferred: list[tuple[UnreserveWork, Done]] = []

    def defer(self, work: UnreserveWork, done: Done) -> None:
        """Keep one whose plugin is stuck."""
        self._deferred.append((work, done))

    def sort(self, stuck: Container[str]) -> None:
        """Tell anew which are due. stuck: names of the plugins that can be asked nothing now."""
        kept = [*self.due, *self._deferred]
        self.due.clear()
        self._deferred.clear()
        for work, done in kept:
            waiting = self._deferred if work.due.plugin.name in stuck else self.due
            waiting.append((work, done))
