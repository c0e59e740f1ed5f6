"""Where lines of the log go: to a stream at once, or to a descriptor on a thread that may be held up.

A pipe whose reader stopped, a full disk and a closed standard error hold up or lose lines, never a scheduler.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TextIO

BUFFER_BYTES = 1 << 20
"""Some thousand lines: a reader that is merely slow loses none."""
_CLOSE_SECONDS = 1.0
_RETRY_MILLISECONDS = 1_000


class StreamWriter:
    """Writes to a stream at once: for streams in memory, and for terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.lost = 0
        """How many lines could not be written so far."""

    def write(self, line: str) -> bool:
        """Write a line, which ends with its line feed. Whether it was written; it never raises."""
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: it was closed
            self.lost += 1
            return False
        return True


class BackgroundWriter:
    """Writes to a descriptor on a thread of its own. What finds no room in the buffer is lost."""

    def __init__(self, descriptor: int, buffer_bytes: int = BUFFER_BYTES) -> None:
        """descriptor: may block, may be in non-blocking mode, and may be of something that is gone."""
        self._descriptor = descriptor
        self._limit = buffer_bytes
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = Lock()
        self._buffered = 0
        self.lost = 0
        """How many lines could not be written so far."""
        self._thread = Thread(target=self._main, name="kruntimes-log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> bool:
        """As `StreamWriter`, without a wait. Whether the line was taken; it may still be lost."""
        data = line.encode("utf-8", "backslashreplace")
        with self._lock:
            if self._buffered + len(data) > self._limit:
                self.lost += 1
                return False
            self._buffered += len(data)
        self._lines.put(data)
        return True

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Wait until all is written, for so long at most."""
        self._lines.put(None)
        self._thread.join(seconds)

    def _main(self) -> None:
        while (data := self._lines.get()) is not None:
            written = self._write(data)
            with self._lock:
                self._buffered -= len(data)
                self.lost += not written

    def _write(self, data: bytes) -> bool:
        """Whether all of it was written."""
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                self._await_room()
            except OSError:
                return False
        return True

    def _await_room(self) -> None:
        poll = select.poll()
        with suppress(OSError):
            poll.register(self._descriptor, select.POLLOUT)
            poll.poll(_RETRY_MILLISECONDS)
