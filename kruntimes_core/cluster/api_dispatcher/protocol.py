"""What the host needs of a dispatcher: one that sends the engine's requests, or one that holds them back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Protocol

from kruntimes_core.engine.clock import Now

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Dispatcher(Protocol):
    """Takes one request after the other from the engine's call queue, and tells the engine the answers."""

    @property
    def outcomes(self) -> Mapping[tuple[str, str], int]:
        """(request: `read`, `bind`, ...; its outcome: `Applied`, `Refused`, ...) to how often."""

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""

    @property
    def overdue(self) -> int:
        """How many requests go on far beyond their limit: a defect, because each has a limit of its own."""

    def start(self, spawn: Spawn) -> None:
        """Begin. spawn: makes a task of a request, and ends the host for one that ends with a defect."""

    def send_next(self, now: Now) -> bool:
        """Take the next request; False if there is none, or no place for it. now: this moment."""

    def unknown_outcomes(self, since: int) -> int:
        """How many writes may have been applied, or may still be, since that moment (in ticks)."""

    async def settle(self) -> None:
        """Wait until every request in flight was answered."""

    def abandon(self) -> None:
        """Let no write that is under way reach the server, if it has not yet."""
