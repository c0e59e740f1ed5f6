"""Why a list or a watch did not work, as the few kinds that are dealt with differently."""

from __future__ import annotations

from enum import Enum

from kruntimes_core.cluster.statuses import Status


class FailureKind(Enum):
    """What to do about a failure."""

    EXPIRED = "expired"
    """The version or the token is gone: list again."""
    MISSING = "missing"
    """The resource is not served."""
    FORBIDDEN = "forbidden"
    """A right is missing; it may be granted at any time."""
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
}


class ApiFailure(Exception):  # noqa: N818 - what failed is the API, as often as not for good reason
    """A list or a watch failed. `str()` is one line with verb and resource."""

    def __init__(self, kind: FailureKind, problem: str, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.kind = kind
        self.retry_after = retry_after


def refused(status: Status, verb: str, resource: str) -> ApiFailure:
    """The failure that a refusal means. resource: as an operator would look for it in a Role."""
    kind = _KINDS.get(status.code, FailureKind.UNAVAILABLE)
    why = _EXPLANATIONS.get(kind, f"the API server answered {status.code}")
    said = f" ({status.message})" if status.message else ""
    return ApiFailure(kind, f"cannot {verb} {resource}: {why}{said}", status.retry_after)


def forbidden(verb: str, resource: str) -> ApiFailure:
    """The failure of a request that lacks a right, without the words of the server, which name an object."""
    kind = FailureKind.FORBIDDEN
    return ApiFailure(kind, f"cannot {verb} {resource}: {_EXPLANATIONS[kind]}")


def unavailable(verb: str, resource: str, problem: object) -> ApiFailure:
    """The failure of an answer that did not come, or that cannot be read."""
    return ApiFailure(FailureKind.UNAVAILABLE, f"cannot {verb} {resource}: {problem}")


def outdated(verb: str, resource: str) -> ApiFailure:
    """The failure of an answer from the past. It names no version: those move on while it lasts."""
    return ApiFailure(
        FailureKind.OUTDATED,
        f"cannot {verb} {resource}: the API server answered from the past:"
        " restart the scheduler if the cluster was restored from a backup",
    )
