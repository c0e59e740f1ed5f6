"""The dispatcher of a dry run: it takes the requests from the engine, and sends none of the writes.

It has no way to send a write: it is given a reader and no transport. What becomes of a bind or of a terminal
status is up to a `WriteHolder`. A text or a withdrawal counts as written, in the version that stands.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from kruntimes_core.cluster.api_dispatcher.answers import RunReader
from kruntimes_core.cluster.api_dispatcher.dispatcher import InFlightCalls
from kruntimes_core.cluster.api_dispatcher.protocol import Spawn
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.api_calls import Applied, Read, Request, Write, WriteKind
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.engine import Engine

_HELD = frozenset({WriteKind.BIND, WriteKind.TERMINAL})


class WriteHolder(Protocol):
    """Keeps writes without an answer: what they reserve stays reserved, as if they were applied."""

    def hold(self, write: Write) -> None:
        """Keep a write until there is an answer to give."""

    def was_read(self, read: Read) -> None:
        """A Run was read, and the engine knows what was found."""

    def let_go(self) -> None:
        """Answer all that is held: it will never be applied."""


class DryRunDispatcher:
    """A `Dispatcher` that hands binds and terminal statuses to a holder, and sends reads alone."""

    def __init__(
        self,
        *,
        engine: Engine,
        clock: Clock,
        reader: RunReader,
        holder: WriteHolder,
        freed: Callable[[], None],
        in_flight: int = 32,
        timeout_seconds: float = 4.0,
    ) -> None:
        """freed, in_flight, timeout_seconds: see `ApiDispatcher`, for reads."""
        self._engine = engine
        self._clock = clock
        self._reader = reader
        self._holder = holder
        self._freed = freed
        self._calls = InFlightCalls(limit=in_flight, timeout_seconds=timeout_seconds)
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """See `Dispatcher`."""

    def start(self, spawn: Spawn) -> None:
        """See `Dispatcher`."""
        self._calls.spawn_with(spawn)

    @property
    def in_flight(self) -> int:
        """How many reads have no answer yet; a write that is held was never sent."""
        return len(self._calls)

    @property
    def overdue(self) -> int:
        """See `Dispatcher`."""
        return self._calls.overdue

    def send_next(self, now: Now) -> bool:
        """Take the next request, and hold or read; False if there is none, or no place for a read."""
        if self._calls.full:
            return False
        request = self._engine.next_request(now)
        if request is None:
            return False
        if isinstance(request, Read):
            self._calls.add(request, self._read(request), self._ended)
        elif request.kind in _HELD:
            self._holder.hold(request)
        else:
            self._engine.written(request, Applied(request.guard), now)
        return True

    def unknown_outcomes(self, since: int) -> int:
        """None: no write was sent."""
        return 0

    async def settle(self) -> None:
        """Let go of all that is held, and wait for reads."""
        self._holder.let_go()
        await self._calls.settle()

    def abandon(self) -> None:
        """There is no write to keep from the server."""

    async def _read(self, read: Read) -> None:
        answer = await self._reader.read(read)
        self.outcomes["read", type(answer).__name__] += 1
        self._engine.read(read, answer, self._clock.now())
        self._holder.was_read(read)

    def _ended(self, task: asyncio.Task[None], request: Request) -> None:
        self._freed()
