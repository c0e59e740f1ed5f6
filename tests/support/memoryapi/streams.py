"""A watch of an API server in memory, and what may become of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator

from kruntimes_core.cluster.client.transport import MaybeSentError
from kruntimes_core.testing.harness import ApiServer
from memoryapi.calls import KINDS, Target, inside, line

_TICK_SECONDS = 0.01


class Stream:
    """One open watch."""

    def __init__(self, server: ApiServer, what: Target, lag_seconds: Callable[[], float]) -> None:
        """lag_seconds: how much later than it happened an event is told; asked again and again."""
        self.plural = what.plural
        self.cut = False
        """The connection breaks."""
        self.silent = False
        """Nothing comes through any more, and nobody is told."""
        self.bookmarks = True
        """Whether a bookmark of the present version ends it, or one of the version with which it began."""
        self.inject: list[bytes] = []
        """Bytes that come next."""
        self._server = server
        self._what = what
        self._lag_seconds = lag_seconds
        self._log = server.events[KINDS[what.plural]]
        self._seen = 0
        self._due: deque[float] = deque()
        """When each of the events is told that happened and were not told."""

    async def chunks(self, version: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """What comes after a version for so long: nothing, as it is open, then events, and a bookmark."""
        time = asyncio.get_running_loop().time
        end = time() + seconds
        yield b""
        self._seen = sum(int(event.object["metadata"]["resourceVersion"]) <= version for event in self._log)
        while True:
            if self.cut:
                raise MaybeSentError("the connection broke")
            # A real server takes a version that it has not reached, and tells of nothing until then.
            speaks = not self.silent and version <= self._version
            if speaks:
                while self.inject:
                    yield self.inject.pop(0)
                for event in self._events(time()):
                    yield event
            if time() >= end and not self.silent:
                break
            await asyncio.sleep(_TICK_SECONDS)
        if speaks and not self._due:
            shown = self._version if self.bookmarks else version
            yield line("BOOKMARK", {"metadata": {"resourceVersion": str(shown)}})

    @property
    def _version(self) -> int:
        return int(self._server.list(KINDS[self.plural]).version)

    def _events(self, now: float) -> Iterator[bytes]:
        self._due.extend([now + self._lag_seconds()] * (len(self._log) - self._seen - len(self._due)))
        while self._due and self._due[0] <= now:
            self._due.popleft()
            event, self._seen = self._log[self._seen], self._seen + 1
            if inside(event.object, self._what):
                yield line(event.type, event.object)
