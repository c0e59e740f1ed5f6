"""What may go wrong, by what it strikes: a request or its answer, a list, a watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kruntimes_core.lab.apiserver.access import denied
from kruntimes_core.lab.apiserver.errors import ApiError, expired
from kruntimes_core.lab.apiserver.faults.scope import Fault, Gate
from kruntimes_core.lab.apiserver.requests import RequestInfo

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class When(Enum):
    """Before a request is served, or after it and before its answer."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(slots=True, eq=False)
class Trouble(Fault):
    """A fault of the way: hold at a gate, take time, then answer an error, or drop the connection."""

    when: When = When.BEFORE
    gate: Gate | None = None
    seconds: float = 0.0
    error: Callable[[RequestInfo], ApiError] | None = None
    retry_after: str | None = None
    drops: bool = False


@dataclass(slots=True, eq=False)
class ListTrouble(Fault):
    """A fault of lists: the limit is ignored, pages come short, or the state is an old one."""

    ignores_limit: bool = False
    page_size: int | None = None
    old_version: int | None = None


@dataclass(slots=True, eq=False)
class WatchHold(Fault):
    """Events of these watches are held back while the gate is closed."""

    gate: Gate | None = None


@dataclass(slots=True, eq=False)
class EmptyWatch(Fault):
    """These watches end cleanly before any event."""


def refusal(code: int, reason: str, message: str) -> Callable[[RequestInfo], ApiError]:
    """What makes the error of a request that is refused. reason, message: empty for those that are usual."""

    def error(call: RequestInfo) -> ApiError:
        if not message and code == 403:
            return denied("faults", call.verb, call.resource, call.subresource, call.namespace, call.name)
        if not message and code == 410:
            return expired("The provided continue parameter is too old")
        return ApiError(code, reason or _REASONS.get(code, ""), message or f"refused with {code}")

    return error
