"""One connection of a client: its requests to the server, the answers back, and what goes wrong."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from faultproxy.faults import Disturbance, Reply
from faultproxy.relay import Streams
from faultproxy.requests import Head, Request, read_body, read_head, whole_body


@dataclass(frozen=True)
class Upstream:
    """The real server."""

    url: str
    tls: ssl.SSLContext

    async def send(self, request: Request) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request on a connection of its own."""
        place = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port, ssl=self.tls)
        head = request.head.encoded(without=("connection",), more=(("Connection", "close"),))
        writer.write(head + request.body)
        await writer.drain()
        return reader, writer


class Relay:
    """A client's connection. `silent`: it stays open, and nothing comes through any more."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: Upstream,
        fault_of: Callable[[Request], Disturbance | None],
        streams_of: Callable[[str], Streams],
    ) -> None:
        self.silent = False
        self.watching = ""
        """The resource that is watched on it."""
        self._reader = reader
        self._writer = writer
        self._upstream = upstream
        self._fault_of = fault_of
        self._streams_of = streams_of

    async def run(self) -> None:
        """Serve requests until the connection ends."""
        while not self._writer.is_closing() and (head := await read_head(self._reader)) is not None:
            request = Request(head, await whole_body(self._reader, head))
            await self._serve(request, self._fault_of(request))

    def break_off(self) -> None:
        """Break the connection."""
        self._writer.transport.abort()

    async def _serve(self, request: Request, disturbance: Disturbance | None) -> None:
        if disturbance is None:
            await self._forward(request, None)
            return
        fault = disturbance.fault
        if fault.holds_request:
            disturbance.note()
            await disturbance.hold()
        if fault.query:
            request = request.with_query(**fault.query)
        if fault.forwarded:
            await self._forward(request, disturbance)
        else:
            await self._answer(disturbance)
        if not fault.holds_request and not fault.holds_answer:
            disturbance.note()

    async def _forward(self, request: Request, disturbance: Disturbance | None) -> None:
        reader, writer = await self._upstream.send(request)
        try:
            head = await read_head(reader)
            assert head is not None, "the real server has closed the connection"
            if request.verb == "watch" and _status(head) == HTTPStatus.OK:
                await self._stream(request, head, reader)
                return
            body = await whole_body(reader, head)
        finally:
            writer.transport.abort()
        if disturbance is not None and disturbance.fault.holds_answer:
            disturbance.note()
            await disturbance.hold()
        if disturbance is None or not await self._answer(disturbance):
            length = ("Content-Length", str(len(body)))
            dropped = ("connection", "transfer-encoding", "content-length")
            self._writer.write(head.encoded(without=dropped, more=(length,)) + body)
            await self._writer.drain()

    async def _answer(self, disturbance: Disturbance) -> bool:
        """Answer in the server's place, if the fault says so."""
        fault = disturbance.fault
        if fault.dropped:
            self.break_off()
        elif fault.answer is not None:
            self._writer.write(_encoded(fault.answer))
            await self._writer.drain()
        return fault.dropped or fault.answer is not None

    async def _stream(self, request: Request, head: Head, reader: asyncio.StreamReader) -> None:
        self._writer.write(head.encoded(without=("connection",)))
        await self._writer.drain()
        self.watching = request.plural
        try:
            await self._streams_of(request.plural).pump(self._writer, read_body(reader, head))
        finally:
            self.watching = ""


def _status(head: Head) -> int:
    return int(head.first.split(" ")[1])


def _encoded(reply: Reply) -> bytes:
    fields = (*reply.headers, ("Content-Length", str(len(reply.body))))
    return Head(f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}", fields).encoded() + reply.body
