"""Who decides. A host alone always does; with several, an elector says which."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol


class Leadership(Protocol):
    """Says whether this host decides, and what is due when it stops."""

    @property
    def leading(self) -> bool:
        """Whether this host may decide now."""

    async def campaign(self, changed: Callable[[], None]) -> None:
        """Go on until cancelled; `changed` is called whenever `leading` changed."""

    async def release(self) -> None:
        """Let another lead at once. Called at a clean stop, after every write was answered."""


class Always:
    """The leadership of a host that is alone."""

    leading = True

    async def campaign(self, changed: Callable[[], None]) -> None:
        """Nothing changes, ever."""
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """There is nobody else."""
