"""Lines out of chunks that were cut anywhere, in the middle of a character too."""

from __future__ import annotations

from collections.abc import Iterator


class Lines:
    """Splits a stream of bytes into lines; decoding is left to whoever reads a whole line."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that `chunk` completes, without their ends; empty ones are left out."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._pieces.append(chunk[start:end])
            start = end + 1
            line = b"".join(self._pieces).rstrip(b"\r")
            self._pieces.clear()
            if line:
                yield line
        if start < len(chunk):
            self._pieces.append(chunk[start:])

    @property
    def rest(self) -> bytes:
        """What came after the last line end."""
        return b"".join(self._pieces).rstrip(b"\r")
