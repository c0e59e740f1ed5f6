"""Requests and answers as plain values, and the protocol of a transport that sends them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

Query = tuple[tuple[str, str], ...]
Gate = Callable[[], bool]
"""Whether a write may be sent at this very moment; reads a clock and never waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `timeout_seconds` bounds all of it, the answer's last byte included."""

    method: str
    path: str
    query: Query = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_seconds: float
    gate: Gate | None = field(default=None, repr=False, compare=False)
    """Called beside the transport's own gate, in the step that hands over the body."""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Looked up by names in lower case."""


class TransportError(Exception):
    """No answer came. `str()` says why, in one line."""

    def __init__(self, problem: str, lasting: bool = False) -> None:
        """lasting: trying again will not help, as with a certificate that is not trusted."""
        super().__init__(" ".join(problem.split()))
        self.lasting = lasting


class NotSentError(TransportError):
    """Not one byte of the request's body was handed to a socket: the server cannot have acted on it."""


class MaybeSentError(TransportError):
    """The server may have acted on the request."""


class StreamRefusedError(Exception):
    """The server answered a stream with another status than 200."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"refused with {response.status}")
        self.response = response


class Chunks(Protocol):
    """The chunks of a stream. The task that reads them closes them."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def __anext__(self) -> Awaitable[bytes]: ...

    async def aclose(self) -> None:
        """Read no more, and close the connection."""


class Transport(Protocol):
    """Sends requests to one API server. Timeouts count on the running loop's time."""

    async def request(self, call: Call) -> Response:
        """Send once and return the answer, with any status. Raises `TransportError`."""

    def stream(self, call: Call) -> Chunks:
        """The chunks of an answer as they come, until the server ends it.

        The first chunk is empty, and comes as soon as the server has answered with 200. Raises
        `StreamRefusedError` for any other status, and `TransportError`, after the timeout too.
        """

    async def close(self) -> None:
        """Close all connections."""


class ReadOnlyTransport:
    """Sends GET and nothing else, so that no defect of a dry run can write. A `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.refused = 0
        """Writes that were not sent; a correct dry run has none."""

    async def request(self, call: Call) -> Response:
        """See `Transport`. Raises `NotSentError` for all but a plain read."""
        self._check(call)
        return await self._transport.request(call)

    def stream(self, call: Call) -> Chunks:
        """See `Transport`. Raises `NotSentError` at once for all but a plain read."""
        self._check(call)
        return self._transport.stream(call)

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()

    def _check(self, call: Call) -> None:
        if call.method != "GET" or call.body is not None:
            self.refused += 1
            raise NotSentError(f"{call.method} {call.path} was not sent: a dry run only reads")
