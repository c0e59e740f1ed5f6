"""Reading one Run from the API server: what ends a doubt."""

from __future__ import annotations

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.resources import RUNS
from kruntimes_core.cluster.transport.protocol import Call, Transport, TransportError
from kruntimes_core.cluster.writing.answers import read_answer
from kruntimes_core.engine.api_calls import OutcomeUnknown, Read, ReadAnswer
from kruntimes_core.model.decode import Decoder


class RunReader:
    """Reads Runs consistently."""

    def __init__(
        self, transport: Transport, clock: Clock, decoder: Decoder, timeout_seconds: float = 4.0
    ) -> None:
        """timeout_seconds: the limit of each read."""
        self._transport = transport
        self._clock = clock
        self._decoder = decoder
        self._timeout_seconds = timeout_seconds

    async def read(self, read: Read) -> ReadAnswer:
        """A consistent read: without a resourceVersion the server answers from the store itself."""
        call = Call(
            method="GET",
            path=RUNS.path(read.namespace, read.name),
            timeout_seconds=self._timeout_seconds,
        )
        try:
            response = await self._transport.request(call)
        except TransportError:
            return OutcomeUnknown()
        return read_answer(response, self._clock.now().wall, self._decoder)
