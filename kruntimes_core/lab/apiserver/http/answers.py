"""What is sent back, as values; the handler makes responses of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kruntimes_core.lab.apiserver.encoding import encode
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.status import ApiError

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer: status, body and headers."""

    code: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


def sent_object(obj: Object, code: int = 200, warnings: Sequence[str] = ()) -> Sent:
    """An object as an answer."""
    return Sent(code, encode(obj), warnings=warnings)


def sent_text(text: str, code: int = 200) -> Sent:
    """A plain text as an answer."""
    return Sent(code, text.encode(), "text/plain; charset=utf-8")


def sent_error(error: ApiError, retry_after: str | None = None) -> Sent:
    """An error as an answer; retry_after: the header in place of what the error says."""
    wait = retry_after if retry_after is not None else error.retry_after_seconds
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return Sent(error.code, encode(error.as_object()), headers=headers, warnings=error.warnings)
