"""Heads of requests and answers (RFC 9112): made once and sent often, and read once for each answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

END_OF_HEAD = b"\r\n\r\n"
LONGEST_HEAD = 65_536
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: .*)?", re.DOTALL)
_LENGTH = re.compile("[0-9]{1,18}", re.ASCII)
_WITHOUT_BODY = (204, 304)


class MalformedError(Exception):
    """What came is no HTTP, or none that was asked for. `str()` says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer. Names of headers are in lower case, the values of equal ones joined."""

    status: int
    headers: Mapping[str, str]
    lasting: bool
    """Whether the connection may be used again, if the end of the answer can be told without closing it."""

    @property
    def interim(self) -> bool:
        """Whether another head follows, that of the answer itself."""
        return self.status < 200

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks that say how long they are."""
        return self.headers.get("transfer-encoding", "").lower() == "chunked"

    @property
    def length(self) -> int | None:
        """How long the body is, in bytes; None if it ends with the connection."""
        if self.status in _WITHOUT_BODY:
            return 0
        # Equal lengths that came more than once are one (RFC 9110, 8.6).
        lengths = {one.strip() for one in self.headers.get("content-length", "").split(",")}
        (length,) = lengths if len(lengths) == 1 else ("?",)
        if not length:
            return None
        if not _LENGTH.fullmatch(length):
            raise MalformedError("its answer has no length that can be read")
        return int(length)


def read_head(data: bytes) -> Head:
    """A head from its bytes, the empty line left out. Raises `MalformedError`."""
    first, *lines = data.split(b"\r\n")
    status_line = _STATUS_LINE.fullmatch(first)
    if status_line is None:
        raise MalformedError("it does not speak HTTP: name the right port")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name or name != name.strip():
            raise MalformedError("its answer has a header that cannot be read")
        key, text = name.lower(), value.strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    _check_codings(headers)
    lasting = status_line[1] == b"1" and headers.get("connection", "").lower() != "close"
    return Head(int(status_line[2]), headers, lasting)


def _check_codings(headers: Mapping[str, str]) -> None:
    """A body is taken as it is: that was asked for, and a server that does otherwise is not understood."""
    coding = headers.get("content-encoding", "identity").lower()
    transfer = headers.get("transfer-encoding", "chunked").lower()
    if coding != "identity" or transfer != "chunked":
        raise MalformedError("its answer is encoded, and that was not asked for")
