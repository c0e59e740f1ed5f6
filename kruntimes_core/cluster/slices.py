"""Long work in short slices, so that watches, probes and renewals go on beside it."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.clock import Clock

SLICE_TICKS = 5_000
"""5 ms (semantics: slices of a sweep, and of everything else that takes long)."""


class Slices:
    """One piece of long work that gives way to others whenever its slice is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.now().ticks

    def restart(self, now: int | None = None) -> None:
        """Begin a slice now. now: this moment in ticks, for who knows it."""
        self._began = self._clock.now().ticks if now is None else now

    @property
    def over(self) -> bool:
        """Whether others should have a turn."""
        return self._clock.now().ticks - self._began >= SLICE_TICKS

    async def breathe(self) -> None:
        """Let others have a turn if the slice is over."""
        if self.over:
            await asyncio.sleep(0)
            self.restart()
