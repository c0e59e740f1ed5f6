"""What comes back on requests goes to the engine first, and then to every part that wants to hear it."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.engine.api_calls import ReadAnswer, Request, WriteAnswer


class Answers:
    """Passes on what a writer tells. Who listens is said while a host is built."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[Request, WriteAnswer | ReadAnswer], None]] = []
        """Told of each answer, after the engine was told."""

    def tell(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        """A request was answered; see `ApiDispatcher`."""
        for hear in self.listeners:
            hear(request, answer)
