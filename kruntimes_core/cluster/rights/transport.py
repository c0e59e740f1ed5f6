"""A transport whose answers are heard by whoever keeps account of rights."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.transport.protocol import Call, Response, StreamRefusedError, Transport

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

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        async with aclosing(self._transport.stream(call)) as chunks:
            try:
                async for chunk in chunks:
                    if not chunk:
                        self._rights.answered(call, _OPENED)
                    yield chunk
            except StreamRefusedError as error:
                self._rights.answered(call, error.response)
                raise

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()
