"""What an API server says when it refuses: a Status object, or whatever a proxy made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic_core import from_json

from kruntimes_core.cluster.transport.protocol import Response

_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Status:
    """A refusal. `is_api` tells a Status object from the words of something in between."""

    code: int
    reason: str = ""
    message: str = ""
    retry_after: float | None = None
    """Seconds that the server asks to wait for."""
    is_api: bool = False


def status_of(response: Response, wall: datetime) -> Status:
    """The refusal in an answer. wall: now, for a Retry-After that is a date."""
    asked = retry_after(response.headers.get("retry-after"), wall)
    try:
        body = from_json(response.body)
    except ValueError:
        body = None
    if isinstance(body, Mapping) and body.get("kind") == "Status":
        return status_object(body, response.status, asked)
    return Status(response.status, message=_line(response.body.decode("utf-8", "replace")), retry_after=asked)


def status_object(body: Mapping[str, object], code: int = 0, asked: float | None = None) -> Status:
    """A Status object; what is missing or of a wrong type in it reads as empty.

    code, asked: of the answer that carried it, where it does not say itself.
    """
    own_code, details = body.get("code"), body.get("details")
    seconds = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
    if asked is None and type(seconds) is int and seconds > 0:
        asked = float(seconds)
    return Status(
        code or (own_code if type(own_code) is int else 0),
        _line(body.get("reason")),
        _line(body.get("message")),
        asked,
        is_api=True,
    )


def retry_after(value: str | None, wall: datetime) -> float | None:
    """Seconds of a Retry-After header: a number or an HTTP date. None for nonsense, never negative."""
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - wall).total_seconds(), 0.0)


def _line(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 3]}..."
