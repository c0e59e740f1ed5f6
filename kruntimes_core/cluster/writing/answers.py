"""What an answer proves about a write (semantics, Writes, and doubt)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic_core import from_json

from kruntimes_core.cluster.statuses import Status, retry_after, status_of
from kruntimes_core.cluster.transport.protocol import Response
from kruntimes_core.engine.api_calls import (
    Applied,
    Found,
    NotFound,
    OutcomeUnknown,
    ReadAnswer,
    Refused,
    WriteAnswer,
)
from kruntimes_core.model.decode import Decoder

NOT_SENT = Refused(0)
"""The write never left this process, so it was not applied: the surest of all refusals."""


def write_answer(response: Response, wall: datetime) -> WriteAnswer:
    """Applied, refused, or in doubt."""
    if response.status in (200, 201):
        version = _version(response.body)
        return Applied(version) if version else OutcomeUnknown()
    if not 400 <= response.status < 500 or response.status == 408:
        return OutcomeUnknown(retry_after(response.headers.get("retry-after"), wall))
    status = status_of(response, wall)
    if _says_nothing_of_a_run(status):
        return OutcomeUnknown(status.retry_after)
    return Refused(response.status, status.retry_after)


def read_answer(response: Response, wall: datetime, decoder: Decoder) -> ReadAnswer:
    """The Run as it was read, or that there is none; in doubt for everything else."""
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
    if response.status == 404 and not _says_nothing_of_a_run(status):
        return NotFound()
    return OutcomeUnknown(status.retry_after)


def _says_nothing_of_a_run(status: Status) -> bool:
    """Whether a 404 came from something before the API server, or speaks of a path and not of a Run."""
    return status.code == 404 and not (status.is_api and status.reason == "NotFound")


def _version(body: bytes) -> str:
    try:
        version = from_json(body)["metadata"]["resourceVersion"]
    except (ValueError, TypeError, KeyError):
        return ""
    return version if isinstance(version, str) else ""
