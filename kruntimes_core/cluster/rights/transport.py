"""A transport whose answers are heard by whoever keeps account of rights."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable

from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.transport.protocol import Call, Chunks, Response, StreamRefusedError, Transport

_OPENED = Response(200)


class HeardTransport:
    """Passes everything on. A `Transport`."""

    def __init__(self, transport: Transport, rights: MissingRights) -> None:
        self._transport = transport
        self._rights = rights

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        response = await self._transport.request(call)
        self._rights.answered(call, response)
        return response

    def stream(self, call: Call) -> Chunks:
        """See `Transport`."""
        return _HeardChunks(self._transport.stream(call), call, self._rights)

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()


class _HeardChunks:
    """Hears how a stream begins; what comes then is passed on without a look."""

    def __init__(self, chunks: Chunks, call: Call, rights: MissingRights) -> None:
        self._chunks = chunks
        self._call = call
        self._rights = rights
        self._began = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    def __anext__(self) -> Awaitable[bytes]:
        return self._chunks.__anext__() if self._began else self._first()

    async def aclose(self) -> None:
        """See `Chunks`."""
        await self._chunks.aclose()

    async def _first(self) -> bytes:
        self._began = True
        try:
            chunk = await self._chunks.__anext__()
        except StreamRefusedError as error:
            self._rights.answered(self._call, error.response)
            raise
        self._rights.answered(self._call, _OPENED)
        return chunk
