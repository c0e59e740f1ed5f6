"""Which scheduler decides: the protocols between a leadership and the scheduler that it calls back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kruntimes_core.cluster.observability.endpoints import HealthCheck


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """Limits that a leadership sets for every write."""

    write_seconds: float
    """The most that a write may take, here and at the server."""
    unknown_outcome_seconds: float
    """Another leads no earlier than this after a Lease that was not released: a write whose outcome is
    unknown for longer need not keep the Lease from being released."""


class LeaderCallbacks(Protocol):
    """What a leadership calls of its scheduler."""

    def changed(self) -> None:
        """Called whenever `leading` changed."""

    def why_not_begin(self) -> str:
        """Why this scheduler should not begin to lead, in one line; empty if it may."""

    def why_not_go_on(self) -> str:
        """Why this leader should let another take over, in one line; empty if it goes on."""


class Leadership(Protocol):
    """Whether this scheduler decides."""

    @property
    def leading(self) -> bool:
        """Whether this scheduler may decide now."""

    @property
    def since(self) -> int:
        """When it began to lead, in ticks; 0 for always. What was listed before may be outdated."""

    @property
    def limits(self) -> WriteLimits:
        """The limits of every write."""

    def checks(self) -> Sequence[HealthCheck]:
        """For the readiness probe."""

    async def campaign(self, callbacks: LeaderCallbacks) -> None:
        """Run until cancelled, and call back at each change."""

    async def release(self) -> None:
        """Let another lead at once. Called at a clean stop, if every write is known to be applied or not."""


class AlwaysLeading:
    """The leadership of a scheduler without leader election."""

    leading = True
    since = 0
    limits = WriteLimits(write_seconds=4.0, unknown_outcome_seconds=0.0)

    def checks(self) -> Sequence[HealthCheck]:
        """None."""
        return ()

    async def campaign(self, callbacks: LeaderCallbacks) -> None:
        """See `Leadership`; nothing ever changes."""
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """See `Leadership`; no other scheduler waits."""
