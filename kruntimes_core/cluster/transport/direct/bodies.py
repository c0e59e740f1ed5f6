"""Bodies of answers, cut anywhere: of a length that is known, in chunks, or to the connection's end."""

from __future__ import annotations

import re
from typing import Protocol

from kruntimes_core.cluster.transport.direct.heads import Head, MalformedError

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)
_LONGEST_LINE = 8_192


class Body(Protocol):
    """Takes what came, and gives the part of it that belongs to the body."""

    @property
    def ended(self) -> bool:
        """Whether all of it came."""

    @property
    def ends_with_connection(self) -> bool:
        """Whether only the end of the connection tells that it is whole."""

    def feed(self, data: bytes) -> bytes:
        """The next part. Raises `MalformedError` for what cannot be, bytes beyond the end among it."""


def body_of(head: Head) -> Body:
    """How the body after a head is to be read. Raises `MalformedError`."""
    if head.chunked:
        return Chunked()
    length = head.length
    return ToTheEnd() if length is None else Measured(length)


class Measured:
    """A body of known length."""

    ends_with_connection = False

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def ended(self) -> bool:
        """See `Body`."""
        return self._left == 0

    def feed(self, data: bytes) -> bytes:
        """See `Body`."""
        if len(data) > self._left:
            raise MalformedError("its answer is longer than it said")
        self._left -= len(data)
        return data


class ToTheEnd:
    """A body that ends with its connection, and cannot be told from one that was cut off."""

    ends_with_connection = True
    ended = False

    def feed(self, data: bytes) -> bytes:
        """See `Body`."""
        return data


class Chunked:
    """A body in chunks (RFC 9112, 7.1). What extensions and trailers say is not looked at."""

    ends_with_connection = False

    def __init__(self) -> None:
        self.ended = False
        self._rest = b""
        """Came, and cannot be understood without what follows."""
        self._left = 0
        """Of the chunk under way, with the line end that closes it."""
        self._trailing = False

    def feed(self, data: bytes) -> bytes:
        """See `Body`."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        parts: list[bytes] = []
        at = 0
        while at < len(data):
            if self.ended:
                raise MalformedError("its answer goes on beyond its end")
            after = self._inside(data, at, parts) if self._left else self._line(data, at)
            if after == at:
                self._rest = data[at:]
                break
            at = after
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _inside(self, data: bytes, at: int, parts: list[bytes]) -> int:
        """Take what there is of the chunk under way."""
        if self._left > 2:
            part = data[at : at + self._left - 2]
            parts.append(part)
            self._left -= len(part)
            return at + len(part)
        if len(data) - at < self._left:
            return at
        if data[at : at + 2] != b"\r\n":
            raise MalformedError("a chunk of its answer does not end where it should")
        self._left = 0
        return at + 2

    def _line(self, data: bytes, at: int) -> int:
        """Take the size of the next chunk, or a line of the trailer."""
        end = data.find(b"\r\n", at)
        if end < 0:
            if len(data) - at > _LONGEST_LINE:
                raise MalformedError("a line between the chunks of its answer has no end")
            return at
        if self._trailing:
            self.ended = end == at
            return end + 2
        size = _SIZE.fullmatch(data, at, end)
        if size is None:
            raise MalformedError("a chunk of its answer has no size that can be read")
        length = int(size[1], 16)
        self._trailing, self._left = length == 0, length + 2 if length else 0
        return end + 2
