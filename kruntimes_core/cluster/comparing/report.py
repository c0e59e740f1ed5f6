"""What a comparison has come to: counts under closed sets, and the latest differences."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from kruntimes_core.cluster.comparing.difference import Difference
from kruntimes_core.cluster.comparing.kinds import Kind, NotCompared

_KEPT = 100


class Sort(NamedTuple):
    """Differences that are counted together."""

    kind: Kind
    plugin: str
    reason: str


class Report:
    """Counts what is told, and tells whoever listens."""

    def __init__(self, began: datetime) -> None:
        """began: since when it counts."""
        self.began = began
        self.agreed = 0
        """Runs with which both schedulers did the same."""
        self.not_compared: Counter[NotCompared] = Counter()
        self.differences: Counter[Sort] = Counter()
        self.clear: Counter[Sort] = Counter()
        """Those without a hint that they come from timing."""
        self.last: dict[Sort, Difference] = {}
        """The latest of each sort."""
        self.latest: deque[Difference] = deque(maxlen=_KEPT)
        self.listeners: list[Callable[[Difference], None]] = []

    @property
    def differed(self) -> int:
        """How many differences there are."""
        return self.differences.total()

    def agree(self) -> None:
        """Both did the same."""
        self.agreed += 1

    def skip(self, why: NotCompared) -> None:
        """Nothing was compared."""
        self.not_compared[why] += 1

    def differ(self, difference: Difference) -> None:
        """They did not do the same."""
        sort = Sort(difference.kind, difference.plugin, difference.reason)
        self.differences[sort] += 1
        self.clear[sort] += difference.clear
        self.last[sort] = difference
        self.latest.append(difference)
        for listener in self.listeners:
            listener(difference)
