"""Whether the bench itself got its turn on the processor: what looks late sees late."""

from __future__ import annotations

import asyncio

_PERIOD_SECONDS = 0.05


class Lateness:
    """Notes by how much the bench's loop was late at most."""

    def __init__(self) -> None:
        self._most = 0.0

    async def watch(self) -> None:
        """Look again and again. Never returns."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _PERIOD_SECONDS
            await asyncio.sleep(_PERIOD_SECONDS)
            self._most = max(self._most, loop.time() - due)

    def take(self) -> float:
        """Seconds of the worst since it was last asked."""
        most, self._most = self._most, 0.0
        return most
