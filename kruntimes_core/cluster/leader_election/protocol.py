"""Which host decides: what a host needs of its leadership, and a leadership of the host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kruntimes_core.cluster.observability.endpoints import HealthCheck


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """What a leadership demands of every write."""

    write_seconds: float
    """The most that a write may take, here and at the server."""
    unknown_outcome_seconds: float
    """Another leads no earlier than this after a Lease that was not released: a write whose outcome is
    unknown for longer need not keep the Lease from being released."""


class LeaderCallbacks(Protocol):
    """The host, as its leadership sees it."""

    def changed(self) -> None:
        """Called whenever `leading` changed."""

    def why_not_begin(self) -> str:
        """Why this host should not begin to lead, in one line; empty if it may."""

    def why_not_go_on(self) -> str:
        """Why a leader should let another take over, in one line; empty if it goes on."""


class Leadership(Protocol):
    """Says whether this host decides, and what is due when it stops."""

    @property
    def leading(self) -> bool:
        """Whether this host may decide now."""

    @property
    def since(self) -> int:
        """When it began to lead, in ticks; 0 for always. What was listed before may be outdated."""

    @property
    def limits(self) -> WriteLimits:
        """What every write is held to."""

    def checks(self) -> Sequence[HealthCheck]:
        """What a readiness probe should know."""

    async def campaign(self, callbacks: LeaderCallbacks) -> None:
        """Go on until cancelled, and call back for each change."""

    async def release(self) -> None:
        """Let another lead at once. Called at a clean stop, if every write is known to be applied or not."""


class AlwaysLeading:
    """The leadership of a host without leader election."""

    leading = True
    since = 0
    limits = WriteLimits(write_seconds=4.0, unknown_outcome_seconds=0.0)

    def checks(self) -> Sequence[HealthCheck]:
        """There is nothing to know."""
        return ()

    async def campaign(self, callbacks: LeaderCallbacks) -> None:
        """Nothing changes, ever."""
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """No other host waits."""
