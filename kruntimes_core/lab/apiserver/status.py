"""What goes wrong, as the Status objects that clients get; reasons and words are a kube-apiserver's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kruntimes_core.lab.apiserver.field_errors import FieldError
from kruntimes_core.lab.apiserver.go_text import quote
from kruntimes_core.lab.apiserver.objects import Object

STALE = "the object has been modified; please apply your changes to the latest version and try again"
_TOO_OLD_TO_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list."
)


class ApiError(Exception):
    """A request that fails: `code` is the HTTP status, the rest is for the Status object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        metadata: Object | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.metadata = metadata or {}
        self.warnings: tuple[str, ...] = ()
        """What the client is warned of beside the error."""

    @property
    def retry_after_seconds(self) -> int | None:
        """When a client may come again, in seconds."""
        return (self.details or {}).get("retryAfterSeconds")

    def as_object(self) -> Object:
        """The error as a v1 Status."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


def success(details: Object) -> Object:
    """The Status that answers for an object that is gone now."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def details_of(group: str, kind: str, name: str = "", **more: Any) -> Object:
    """`Status.details`; what is empty is left out, as the API does."""
    found: Object = {"name": name, "group": group, "kind": kind, **more}
    return {key: value for key, value in found.items() if value not in ("", None)}


def qualified(group: str, resource: str) -> str:
    """A resource or kind with its group, as messages name it."""
    return f"{resource}.{group}" if group else resource


def not_found(group: str, plural: str, name: str) -> ApiError:
    """404: there is no such object."""
    message = f"{qualified(group, plural)} {quote(name)} not found"
    return ApiError(404, "NotFound", message, details_of(group, plural, name))


def no_such_path() -> ApiError:
    """404: the path leads nowhere."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(group: str, plural: str, name: str) -> ApiError:
    """409: an object of that name is there."""
    message = f"{qualified(group, plural)} {quote(name)} already exists"
    return ApiError(409, "AlreadyExists", message, details_of(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str = STALE) -> ApiError:
    """409: the object is another than the request thinks."""
    message = f"Operation cannot be fulfilled on {qualified(group, plural)} {quote(name)}: {why}"
    return ApiError(409, "Conflict", message, details_of(group, plural, name))


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422: fields are wrong; each is one cause."""
    texts = list(dict.fromkeys(map(str, errors)))
    what = f"{qualified(group, kind)} {quote(name)} is invalid"
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details = details_of(group, kind, name, causes=[error.as_cause() for error in errors])
    return ApiError(422, "Invalid", f"{what}: {listed}", details)


def unprocessable() -> ApiError:
    """422 of a patch that cannot be applied; what is wrong with it is not said, as ever."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def bad_request(message: str) -> ApiError:
    """400: the request itself is wrong."""
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    """401: nobody known."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(group: str, plural: str, name: str, why: str) -> ApiError:
    """403: known, and not allowed."""
    subject = f"{qualified(group, plural)} {quote(name)}" if name else qualified(group, plural)
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details_of(group, plural, name))


def method_not_allowed() -> ApiError:
    """405: the resource has no such verb."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def expired(message: str, token: str | None = None) -> ApiError:
    """410: the version asked for is out of reach; token: how a list could go on, inconsistently."""
    metadata = {"continue": token} if token is not None else {}
    return ApiError(410, "Expired", message, metadata=metadata)


def expired_token(token: str) -> ApiError:
    """410 for a continue token whose version is out of reach."""
    return expired(_TOO_OLD_TO_CONTINUE, token)


def too_large_version(wanted: int, current: int) -> ApiError:
    """504: the version asked for is not reached yet."""
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return ApiError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def internal(message: str) -> ApiError:
    """500: what came of a request makes no sense."""
    details = {"causes": [{"message": message}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", details)


def timeout(message: str) -> ApiError:
    """504: it may have been done, or not."""
    return ApiError(504, "Timeout", f"Timeout: {message}", {})
