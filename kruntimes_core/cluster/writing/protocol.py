"""What the host needs of whoever takes the engine's requests: one that sends them, or one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Protocol

from kruntimes_core.engine.clock import Now

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Writer(Protocol):
    """Takes one request after the other out of the engine's outbox, and tells it what came of each."""

    @property
    def outcomes(self) -> Mapping[tuple[str, str], int]:
        """(what was asked: `read`, `bind`, ...; what came of it: `Applied`, `Refused`, ...) to how often."""

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""

    @property
    def overdue(self) -> int:
        """How many requests go on far beyond their limit: nothing in here should."""

    def start(self, spawn: Spawn) -> None:
        """Begin. spawn: makes a task of a request, and takes care of one that ends with a defect."""

    def send_next(self, now: Now) -> bool:
        """Take the next request; False if there is none, or no place for it. now: this moment."""

    def in_doubt(self, since: int) -> int:
        """How many writes may have been applied, or may still be, since that moment (in ticks)."""

    async def settle(self) -> None:
        """Wait until everything in flight was answered."""

    def abandon(self) -> None:
        """Let no write that is under way reach the server, if it has not yet."""
