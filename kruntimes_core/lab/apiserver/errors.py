"""What is wrong with a request or with single fields, as the Status objects that clients get.

Codes, reasons, paths of fields and types of causes are a kube-apiserver's; the texts are our own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from kruntimes_core.lab.apiserver.objects import Object

OMITTED: Final = object()
"""Stands for a value that the message does not show."""


class Cause(Enum):
    """The type of a cause in `Status.details.causes`, and the words that it begins with."""

    REQUIRED = ("FieldValueRequired", "Required value")
    INVALID = ("FieldValueInvalid", "Invalid value")
    TYPE_INVALID = ("FieldValueTypeInvalid", "Invalid value")
    NOT_SUPPORTED = ("FieldValueNotSupported", "Unsupported value")
    DUPLICATE = ("FieldValueDuplicate", "Duplicate value")
    FORBIDDEN = ("FieldValueForbidden", "Forbidden")
    TOO_LONG = ("FieldValueTooLong", "Too long")
    TOO_MANY = ("FieldValueTooMany", "Too many")


_STOPS_RULES = frozenset(
    {Cause.NOT_SUPPORTED, Cause.REQUIRED, Cause.TOO_LONG, Cause.TOO_MANY, Cause.TYPE_INVALID}
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One problem: its cause, the path of the field, the value and what is wrong with it."""

    cause: Cause
    field: str
    value: Any
    detail: str = ""

    @property
    def body(self) -> str:
        """The message without the path."""
        shown = "" if self.value is OMITTED else json.dumps(self.value, ensure_ascii=False, default=str)
        return ": ".join(filter(None, (self.cause.value[1], shown, self.detail)))

    @property
    def stops_rules(self) -> bool:
        """Whether the rules of the schema are not evaluated beside this problem."""
        return self.cause in _STOPS_RULES

    @property
    def shown_field(self) -> str:
        """The path; `<nil>` for the whole object."""
        return self.field or "<nil>"

    def __str__(self) -> str:
        return f"{self.shown_field}: {self.body}"

    def as_cause(self) -> dict[str, str]:
        """The problem as an entry of `Status.details.causes`."""
        return {"reason": self.cause.value[0], "message": self.body, "field": self.shown_field}


def required(field: str, detail: str = "") -> FieldError:
    """A field that must be there is not."""
    return FieldError(Cause.REQUIRED, field, OMITTED, detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """A value breaks a rule."""
    return FieldError(Cause.INVALID, field, value, detail)


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    """A value is of another type than the schema wants."""
    return FieldError(Cause.TYPE_INVALID, field, value, detail)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """A value is not one of those allowed."""
    listed = ", ".join(f'"{one}"' for one in supported)
    return FieldError(Cause.NOT_SUPPORTED, field, value, f"supported values: {listed}")


def duplicate(field: str, value: Any) -> FieldError:
    """A value that must be unique stands there more than once."""
    return FieldError(Cause.DUPLICATE, field, value)


def forbidden(field: str, detail: str) -> FieldError:
    """A field must not be set now."""
    return FieldError(Cause.FORBIDDEN, field, OMITTED, detail)


def too_long(field: str, limit: int) -> FieldError:
    """A text is longer than `limit`."""
    return FieldError(Cause.TOO_LONG, field, OMITTED, f"may not be more than {limit} bytes")


def too_many(field: str, actual: int, limit: int) -> FieldError:
    """A list or a map has more than `limit` entries."""
    return FieldError(Cause.TOO_MANY, field, actual, f"must have at most {limit} items")


class ApiError(Exception):
    """A request that fails: `code` is the HTTP status, the rest is for the Status object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        metadata: Object | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        """warnings: what the client is warned of beside the error."""
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.metadata = metadata or {}
        self.warnings = warnings

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
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def details_of(group: str, kind: str, name: str = "", **more: Any) -> Object:
    """`Status.details`; what is empty is left out, as the API does."""
    found: Object = {"name": name, "group": group, "kind": kind, **more}
    return {key: value for key, value in found.items() if value not in ("", None)}


def qualified(group: str, resource: str) -> str:
    """A resource or kind with its group, as messages name it."""
    return f"{resource}.{group}" if group else resource


def bad_request(message: str) -> ApiError:
    """400: the request itself is wrong."""
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    """401: the user is unknown."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden_request(
    group: str, plural: str, name: str, why: str, causes: Sequence[Object] | None = None
) -> ApiError:
    """403: the user is known, and may not do it."""
    subject = f'{qualified(group, plural)} "{name}"' if name else qualified(group, plural)
    details = details_of(group, plural, name, causes=causes)
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def not_found(group: str, plural: str, name: str) -> ApiError:
    """404: there is no such object."""
    message = f'{qualified(group, plural)} "{name}" not found'
    return ApiError(404, "NotFound", message, details_of(group, plural, name))


def no_such_path() -> ApiError:
    """404: the path leads nowhere."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    """405: the resource has no such verb."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def not_acceptable(message: str) -> ApiError:
    """406: the answer does not exist in the form that the client asks for."""
    return ApiError(406, "NotAcceptable", message)


def already_exists(group: str, plural: str, name: str) -> ApiError:
    """409: an object of that name is there."""
    message = f'{qualified(group, plural)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details_of(group, plural, name))


STALE = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(group: str, plural: str, name: str, why: str = STALE) -> ApiError:
    """409: the object is another than the request thinks."""
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return ApiError(409, "Conflict", message, details_of(group, plural, name))


def expired(message: str, token: str | None = None) -> ApiError:
    """410: the version asked for is out of reach; token: how a list could go on, inconsistently."""
    metadata = {"continue": token} if token is not None else {}
    return ApiError(410, "Expired", message, metadata=metadata)


def too_large(message: str) -> ApiError:
    """413: the body is longer than the server takes."""
    return ApiError(413, "RequestEntityTooLarge", message)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    """415: the body is in a form that is not taken here."""
    message = f"the body must be of one of these media types: {', '.join(accepted)}"
    return ApiError(415, "UnsupportedMediaType", message)


def invalid_object(
    group: str, kind: str, name: str, errors: Sequence[FieldError], warnings: tuple[str, ...] = ()
) -> ApiError:
    """422: fields are wrong; each is one cause."""
    texts = list(dict.fromkeys(map(str, errors)))
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details = details_of(group, kind, name, causes=[error.as_cause() for error in errors])
    message = f'{qualified(group, kind)} "{name}" is invalid: {listed}'
    return ApiError(422, "Invalid", message, details, warnings=warnings)


def cannot_apply(problem: str) -> ApiError:
    """422 of a patch that does not fit the object."""
    return ApiError(422, "Invalid", f"the patch cannot be applied: {problem}", {})


def internal(message: str) -> ApiError:
    """500: what came of a request makes no sense."""
    details = {"causes": [{"message": message}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", details)


def timeout(message: str) -> ApiError:
    """504: it may have been done, or not."""
    return ApiError(504, "Timeout", f"Timeout: {message}", {})


def too_large_version(wanted: int, current: int) -> ApiError:
    """504: the version asked for is not reached yet."""
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return ApiError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
