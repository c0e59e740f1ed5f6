"""The dispatcher of a dry run: it takes the requests from the engine, and sends none of the writes.

It has no way to send a write: it is given a reader and no transport. What becomes of a bind or of a terminal
status is up to a `WriteHolder`. A text or a withdrawal counts as written, in the version that stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kruntimes_core.cluster.api_dispatcher.answers import RunReader
from kruntimes_core.cluster.api_dispatcher.dispatcher import Dispatcher
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.api_calls import Applied, Read, ReadAnswer, Request, Write, WriteKind
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


class DryRunDispatcher(Dispatcher):
    """Hands binds and terminal statuses to a holder, and sends reads alone."""

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
        super().__init__(
            engine=engine,
            clock=clock,
            reader=reader,
            freed=freed,
            in_flight=in_flight,
            timeout_seconds=timeout_seconds,
        )
        self._holder = holder

    def unknown_outcomes(self, since: int) -> int:
        """None: no write was sent."""
        return 0

    def abandon(self) -> None:
        """There is no write to keep from the server."""

    async def settle(self) -> None:
        """Let go of all that is held, and wait for reads."""
        self._holder.let_go()
        await super().settle()

    def _take(self, write: Write, now: Now) -> None:
        if write.kind in _HELD:
            self._holder.hold(write)
        else:
            self._engine.written(write, Applied(write.guard), now)

    def _was_read(self, read: Read, answer: ReadAnswer) -> None:
        self._holder.was_read(read)

    def _cancelled(self, request: Request) -> None:
        """Reads alone are sent, and they are cancelled with the whole host alone."""
