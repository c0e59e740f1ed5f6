"""The requests that are under way: how many, since when, and whether any goes on for too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator

from kruntimes_core.cluster.writing.protocol import Spawn
from kruntimes_core.engine.api_calls import Request

# More than a limit can be late by on a machine that does ten things at once.
_GRACE_SECONDS = 30.0

Task = asyncio.Task[None]


class Flights:
    """A bounded number of requests, each in a task of its own."""

    def __init__(self, limit: int, timeout_seconds: float) -> None:
        """limit: requests at a time. timeout_seconds: each one's own limit."""
        self.spawn: Spawn = asyncio.create_task
        """See `Writer`."""
        self._limit = limit
        self._timeout_seconds = timeout_seconds
        self._tasks: dict[Task, tuple[Request, float]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[tuple[Task, Request]]:
        return iter([(task, request) for task, (request, _) in self._tasks.items()])

    @property
    def full(self) -> bool:
        """Whether there is no place for one more."""
        return len(self) >= self._limit

    @property
    def overdue(self) -> int:
        """How many go on far beyond their limit."""
        began = asyncio.get_running_loop().time() - self._timeout_seconds - _GRACE_SECONDS
        return sum(at < began for _, at in self._tasks.values())

    def start(
        self, request: Request, way: Coroutine[None, None, None], ended: Callable[[Task, Request], None]
    ) -> None:
        """Send a request on its way. ended: called when that has come to its end, cancelled or not."""

        def done(task: Task) -> None:
            del self._tasks[task]
            ended(task, request)

        task = self.spawn(way)
        self._tasks[task] = request, asyncio.get_running_loop().time()
        task.add_done_callback(done)

    async def settle(self) -> None:
        """Wait until all have ended."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
