"""A transport that cannot write: what is built on it writes nothing, whatever mistake is in it."""

from __future__ import annotations

from kruntimes_core.cluster.transport.protocol import Call, Chunks, NotSentError, Response, Transport


class ReadOnlyTransport:
    """Lets GET through, and nothing else. A `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.refused = 0
        """Requests that were not sent. Nothing should ask for any."""

    async def request(self, call: Call) -> Response:
        """See `Transport`. Raises `NotSentError` for whatever is not a plain read."""
        self._check(call)
        return await self._transport.request(call)

    def stream(self, call: Call) -> Chunks:
        """See `Transport`. Raises `NotSentError` at once for whatever is not a plain read."""
        self._check(call)
        return self._transport.stream(call)

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()

    def _check(self, call: Call) -> None:
        if call.method != "GET" or call.body is not None:
            self.refused += 1
            raise NotSentError(f"{call.method} {call.path} was not sent: a dry run only reads")
