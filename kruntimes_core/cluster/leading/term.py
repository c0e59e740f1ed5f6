"""The time in which this process may write."""

from __future__ import annotations

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND


class Term:
    """Ends by itself, on a clock that goes on while the machine sleeps, unless it is extended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = 0

    def lasts(self) -> bool:
        """Whether a write may be handed to the socket at this very moment: a gate of `HttpTransport`."""
        return self._clock.now().ticks < self._until

    @property
    def left_seconds(self) -> float:
        """How long it lasts from now; 0 when it has ended."""
        return max(self._until - self._clock.now().ticks, 0) / SECOND

    def extend(self, until: int) -> None:
        """Let it last until a moment, in ticks; it never gets shorter by that."""
        self._until = max(self._until, until)

    def end(self) -> None:
        """End it now."""
        self._until = 0
