"""As much of HTTP/1.1 as a client of an API server and that server need: heads, lengths and chunks."""

from __future__ import annotations

from asyncio import StreamReader
from collections.abc import AsyncIterator
from dataclasses import dataclass

_END = b"\r\n"


@dataclass(frozen=True)
class Head:
    """The first line of a message and its fields, as they came."""

    first: str
    fields: tuple[tuple[str, str], ...]

    def field(self, name: str) -> str:
        """The value of a field; empty without one."""
        return next((value for key, value in self.fields if key.lower() == name), "")

    def encoded(self, *, without: tuple[str, ...] = (), more: tuple[tuple[str, str], ...] = ()) -> bytes:
        """The head on the wire. without: names of fields that are left out, in lower case."""
        kept = [(key, value) for key, value in self.fields if key.lower() not in without]
        lines = [self.first, *(f"{key}: {value}" for key, value in (*kept, *more)), "", ""]
        return "\r\n".join(lines).encode("latin-1")


async def read_head(reader: StreamReader) -> Head | None:
    """The next head; None when the other side has ended the connection between two messages."""
    first = await reader.readline()
    if not first:
        return None
    fields = []
    while (line := await reader.readline()) not in (_END, b""):
        key, _, value = line.decode("latin-1").partition(":")
        fields.append((key, value.strip()))
    return Head(first.decode("latin-1").rstrip(), tuple(fields))


async def read_body(reader: StreamReader, head: Head) -> AsyncIterator[bytes]:
    """The body of a message that follows, in the pieces in which it comes."""
    if head.field("transfer-encoding").lower() == "chunked":
        while size := int((await reader.readline()).partition(b";")[0] or b"0", 16):
            yield await reader.readexactly(size)
            await reader.readexactly(len(_END))
        await reader.readline()
    elif length := int(head.field("content-length") or 0):
        yield await reader.readexactly(length)


async def whole_body(reader: StreamReader, head: Head) -> bytes:
    """The body of a message that follows, whole."""
    return b"".join([piece async for piece in read_body(reader, head)])


def chunk(data: bytes) -> bytes:
    """One piece of a body of unknown length; empty for its end."""
    return f"{len(data):x}".encode() + _END + data + _END
