"""API errors: the Status of a refusal, and the kinds of failure that callers deal with differently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

from pydantic_core import from_json

from kruntimes_core.cluster.client.transport import Response

_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_LONGEST_MESSAGE = 300
_TERMINATING = "NamespaceTerminating"
"""The cause of a refusal: nothing new is taken in a namespace that is being deleted."""
_TERMINATING_MESSAGE = "because it is being terminated"


@dataclass(frozen=True, slots=True)
class Status:
    """A refusal. `is_api`: whether it is a Status object of the API server, and not the text of a proxy."""

    code: int
    reason: str = ""
    message: str = ""
    retry_after: float | None = None
    """How many seconds to wait, if the server says so."""
    is_api: bool = False
    namespace_gone: bool = False
    """Whether the namespace is being deleted, or is gone: no permission is missing."""


def status_of(response: Response, wall: datetime) -> Status:
    """The refusal in an answer. wall: now, for a Retry-After that is a date."""
    seconds = retry_after(response.headers.get("retry-after"), wall)
    try:
        body = from_json(response.body)
    except ValueError:
        body = None
    if isinstance(body, Mapping) and body.get("kind") == "Status":
        return status_object(body, response.status, seconds)
    return Status(
        response.status, message=_line(response.body.decode("utf-8", "replace")), retry_after=seconds
    )


def status_object(body: Mapping[str, object], code: int = 0, header: float | None = None) -> Status:
    """Read a Status object; a missing field, or one of a wrong type, reads as empty.

    code, header: status and Retry-After of the response that carried the object; they take precedence.
    """
    own_code, details = body.get("code"), body.get("details")
    seconds = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
    if header is None and type(seconds) is int and seconds > 0:
        header = float(seconds)
    return Status(
        code or (own_code if type(own_code) is int else 0),
        _line(body.get("reason")),
        _line(body.get("message")),
        header,
        is_api=True,
        namespace_gone=_is_namespace_gone(body),
    )


def _is_namespace_gone(body: Mapping[str, object]) -> bool:
    details, message = body.get("details"), body.get("message")
    details = details if isinstance(details, Mapping) else {}
    causes = details.get("causes")
    found = [body, *causes] if isinstance(causes, list) else [body]
    said = isinstance(message, str) and message.endswith(_TERMINATING_MESSAGE)
    missing = body.get("reason") == "NotFound" and details.get("kind") == "namespaces"
    terminating = any(isinstance(one, Mapping) and one.get("reason") == _TERMINATING for one in found)
    return said or missing or terminating


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


class FailureKind(Enum):
    """What to do about a failure."""

    EXPIRED = "expired"
    """The version or the token is gone: list again."""
    MISSING = "missing"
    """The resource is not served."""
    FORBIDDEN = "forbidden"
    """A permission is missing; it may be granted at any time."""
    UNAUTHORIZED = "unauthorized"
    """The credentials are not accepted."""
    OUTDATED = "outdated"
    """The answer is older than what was seen before."""
    UNAVAILABLE = "unavailable"
    """Anything else: try again."""


_KINDS = {
    401: FailureKind.UNAUTHORIZED,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.MISSING,
    410: FailureKind.EXPIRED,
}
_EXPLANATIONS = {
    FailureKind.EXPIRED: "the version is too old",
    FailureKind.MISSING: "the API server does not serve them: install the CRDs",
    FailureKind.FORBIDDEN: "forbidden: grant the verb",
    FailureKind.UNAUTHORIZED: "the credentials are not accepted: renew them",
    FailureKind.OUTDATED: "the API server answers from the past",
}


class ApiFailure(Exception):  # noqa: N818 - what failed is the API, as often as not for good reason
    """A list, a watch or a write failed. `str()` is one line, with the namespace if there is one."""

    def __init__(
        self, kind: FailureKind, verb: str, resource: str, why: str, retry_after: float | None = None
    ) -> None:
        """resource: its name in a Role, and its namespace."""
        super().__init__(f"cannot {verb} {resource}: {why}")
        self.kind = kind
        self.retry_after = retry_after
        # Without the namespace that may follow it.
        self._what = f"{verb} {resource.partition(' in ')[0]}"

    @property
    def without_names(self) -> str:
        """What failed, for those who may not know the names of namespaces."""
        why = _EXPLANATIONS.get(self.kind, "the API server does not answer as it should")
        return f"cannot {self._what}: {why}"


def refused(status: Status, verb: str, resource: str) -> ApiFailure:
    """The failure for a refusal. resource: its name in a Role."""
    kind = _KINDS.get(status.code, FailureKind.UNAVAILABLE)
    why = _EXPLANATIONS.get(kind, f"the API server answered {status.code}")
    said = f" ({status.message})" if status.message else ""
    return ApiFailure(kind, verb, resource, f"{why}{said}", status.retry_after)


def forbidden(verb: str, resource: str) -> ApiFailure:
    """The failure of a request without permission; the server's own words would name one object."""
    kind = FailureKind.FORBIDDEN
    return ApiFailure(kind, verb, resource, _EXPLANATIONS[kind])


def unavailable(verb: str, resource: str, problem: object) -> ApiFailure:
    """The failure where no answer came, or where it cannot be read."""
    return ApiFailure(FailureKind.UNAVAILABLE, verb, resource, str(problem))


def outdated(verb: str, resource: str) -> ApiFailure:
    """The failure of an answer from the past. Without versions, the text stays the same while this lasts."""
    why = "the API server answered from the past"
    advice = "restart the scheduler if the cluster was restored from a backup"
    return ApiFailure(FailureKind.OUTDATED, verb, resource, f"{why}: {advice}")
