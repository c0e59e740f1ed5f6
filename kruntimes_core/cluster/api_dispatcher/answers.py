"""What an answer of the API server proves about a Run (semantics, Writes, and doubt), and reading one Run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic_core import from_json

from kruntimes_core.cluster.client.errors import Status, retry_after, status_of
from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.cluster.client.transport import Call, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.api_calls import (
    Applied,
    Found,
    NotFound,
    OutcomeUnknown,
    Read,
    ReadAnswer,
    Refused,
    WriteAnswer,
)
from kruntimes_core.model.decode import Decoder

NOT_SENT = Refused(0)
"""The write never left this process, so it was not applied: the surest of all refusals."""


def write_answer(response: Response, wall: datetime) -> WriteAnswer:
    """Applied, refused, or with an unknown outcome."""
    if response.status in (200, 201):
        version = _version(response.body)
        return Applied(version) if version else OutcomeUnknown()
    if not 400 <= response.status < 500 or response.status == 408:
        return OutcomeUnknown(retry_after(response.headers.get("retry-after"), wall))
    status = status_of(response, wall)
    if _is_not_about_a_run(status):
        return OutcomeUnknown(status.retry_after)
    return Refused(response.status, status.retry_after)


def read_answer(response: Response, wall: datetime, decoder: Decoder) -> ReadAnswer:
    """The Run as it was read, or that there is none; an unknown outcome for everything else."""
    if response.status == 200:
        try:
            body = from_json(response.body)
        except ValueError:
            return OutcomeUnknown()
        observation = decoder.run(body) if isinstance(body, Mapping) else None
        if observation is None or not (observation.version and observation.run.uid):
            return OutcomeUnknown()
        return Found(observation)
    status = status_of(response, wall)
    if response.status == 404 and not _is_not_about_a_run(status):
        return NotFound()
    return OutcomeUnknown(status.retry_after)


def _is_not_about_a_run(status: Status) -> bool:
    """Whether a 404 came from something before the API server, or speaks of a path and not of a Run."""
    return status.code == 404 and not (status.is_api and status.reason == "NotFound")


def _version(body: bytes) -> str:
    try:
        version = from_json(body)["metadata"]["resourceVersion"]
    except (ValueError, TypeError, KeyError):
        return ""
    return version if isinstance(version, str) else ""


class RunReader:
    """Reads single Runs, which settles an unknown outcome."""

    def __init__(
        self, *, transport: Transport, clock: Clock, decoder: Decoder, timeout_seconds: float = 4.0
    ) -> None:
        """timeout_seconds: the limit of each read."""
        self._transport = transport
        self._clock = clock
        self._decoder = decoder
        self._timeout_seconds = timeout_seconds

    async def read(self, read: Read) -> ReadAnswer:
        """Read a Run consistently: without a resourceVersion the server answers from the store itself."""
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
