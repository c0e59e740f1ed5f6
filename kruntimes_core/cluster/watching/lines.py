"""Lines out of chunks that were cut anywhere, in the middle of a character too."""

from __future__ import annotations


class Lines:
    """Splits a stream of bytes into lines; decoding is left to whoever reads a whole line."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their ends; empty ones are left out."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)
        return [line for line in (line.rstrip(b"\r") for line in lines) if line]

    @property
    def rest(self) -> bytes:
        """What came after the last line end."""
        return b"".join(self._pieces).rstrip(b"\r")
