"""What a host did, in numbers that are the same on any machine."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from kruntimes_core.engine.api_calls import Write, WriteKind


@dataclass(frozen=True, slots=True)
class Counts:
    """All that was done between two moments."""

    asked: Counter[str]
    """Questions to plugins, by hook."""
    pods: frozenset[str]
    """The Pods that a filter or a scorer was asked about."""
    cycles: int
    writes: tuple[Write, ...]
    reads: int

    @property
    def kinds(self) -> Counter[WriteKind]:
        """The writes by what they are for."""
        return Counter(write.kind for write in self.writes)

    @property
    def written_bytes(self) -> int:
        """What the writes send to the API server, without headers."""
        return sum(len(json.dumps(write.body, separators=(",", ":"))) for write in self.writes)

    @property
    def nothing(self) -> bool:
        """Whether nobody was asked, nothing decided and nothing sent."""
        return not (self.asked or self.cycles or self.writes or self.reads)
