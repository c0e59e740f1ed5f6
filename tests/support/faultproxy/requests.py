"""What a request to an API server asks for, in as much of HTTP/1.1 as a client and that server need."""

from __future__ import annotations

from asyncio import StreamReader
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

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


@dataclass(frozen=True)
class Request:
    """One request of the client, whole."""

    head: Head
    body: bytes

    @property
    def method(self) -> str:
        return self.head.first.split(" ")[0]

    @property
    def target(self) -> str:
        return self.head.first.split(" ")[1]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def verb(self) -> str:
        """The verb as a Role names it."""
        if self.method == "GET":
            return "get" if self.name else "watch" if "watch" in self.query else "list"
        return self.method.lower()

    @property
    def plural(self) -> str:
        """The resource; empty for what is about none."""
        return self._place[0]

    @property
    def name(self) -> str:
        """The name of the object; empty for a collection."""
        return self._place[1]

    @property
    def _place(self) -> tuple[str, str]:
        root, _, rest = urlsplit(self.target).path.strip("/").partition("/")
        parts = rest.split("/")[{"api": 1, "apis": 2}.get(root, 99) :]
        if parts[:1] == ["namespaces"]:
            parts = parts[2:]
        return (parts[0] if parts else "", parts[1] if len(parts) > 1 else "")

    def with_query(self, **changed: str) -> Request:
        """The same request with other parameters."""
        path = urlsplit(self.target).path
        first = f"{self.method} {path}?{urlencode({**self.query, **changed})} HTTP/1.1"
        return Request(Head(first, self.head.fields), self.body)


@dataclass(frozen=True)
class Match:
    """Which requests are meant."""

    verb: str
    plural: str
    name: str = ""
    """Empty: of any object."""
    later_page: bool = False
    """Of a list, a page after the first."""

    def __call__(self, request: Request) -> bool:
        """Whether a request is meant."""
        return (
            (request.verb, request.plural) == (self.verb, self.plural)
            and self.name in ("", request.name)
            and (not self.later_page or "continue" in request.query)
        )
