"""Who decides. A host alone always does; with several, an elector says which."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kruntimes_core.cluster.observability.health import HealthCheck


@dataclass(frozen=True, slots=True)
class Limits:
    """What the way of leading demands of every write."""

    write_seconds: float
    """The most that a write may take, here and at the server."""
    doubt_seconds: float
    """Another leads no earlier than this after a Lease that was not released: what is in doubt for
    longer need not keep it from being released."""


class Candidate(Protocol):
    """The host, as its leadership sees it."""

    def changed(self) -> None:
        """Called whenever `leading` changed."""

    def why_not_begin(self) -> str:
        """Why it should not begin to lead, in one line; empty if it may."""

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
    def limits(self) -> Limits:
        """What every write is held to."""

    def checks(self) -> Sequence[HealthCheck]:
        """What a readiness probe should know."""

    async def campaign(self, candidate: Candidate) -> None:
        """Go on until cancelled, and tell the candidate of each change."""

    async def release(self) -> None:
        """Let another lead at once. Called at a clean stop, if no write is in flight or in doubt."""


class Always:
    """The leadership of a host that is alone."""

    leading = True
    since = 0
    limits = Limits(write_seconds=4.0, doubt_seconds=0.0)

    def checks(self) -> Sequence[HealthCheck]:
        """There is nothing to know."""
        return ()

    async def campaign(self, candidate: Candidate) -> None:
        """Nothing changes, ever."""
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """There is nobody else."""
