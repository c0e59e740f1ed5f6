"""Open watches, as a test reaches into them: lines of its own, a clean end, events held back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kruntimes_core.lab.apiserver.faults.scope import Scope
from kruntimes_core.lab.apiserver.requests import RequestInfo


class OpenWatch:
    """One watch that a client reads. wake: called when there is something to do for it."""

    def __init__(self, call: RequestInfo, wake: Callable[[], None]) -> None:
        self.call = call
        self._wake = wake
        self._lines: deque[bytes] = deque()
        self.ended = False
        """Whether the stream is to end cleanly."""
        self.bookmark_wanted = False
        """Whether a bookmark is to be told at once."""

    def take_lines(self) -> bytes:
        """What is to be sent as it is."""
        lines = b"".join(self._lines)
        self._lines.clear()
        return lines

    def inject(self, line: bytes) -> None:
        """Send a text as it is, between two events."""
        self._lines.append(line)
        self._wake()

    def bookmark(self) -> None:
        """Send a bookmark now."""
        self.bookmark_wanted = True
        self._wake()

    def end(self) -> None:
        """End the stream cleanly."""
        self.ended = True
        self._wake()

    def wake(self) -> None:
        """Look again whether there is something to send."""
        self._wake()


class OpenWatches:
    """All watches that are open."""

    def __init__(self) -> None:
        self._open: list[OpenWatch] = []

    def add(self, watch: OpenWatch) -> None:
        """A watch began."""
        self._open.append(watch)

    def discard(self, watch: OpenWatch) -> None:
        """A watch is over."""
        if watch in self._open:
            self._open.remove(watch)

    def of(self, scope: Scope) -> list[OpenWatch]:
        """Those that a scope is about, oldest first."""
        return [watch for watch in self._open if scope.matches(watch.call)]
