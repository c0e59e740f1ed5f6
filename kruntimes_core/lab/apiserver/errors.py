"""How Go writes values into messages, so that the messages here read like a kube-apiserver's.

What is wrong with one field, worded as `k8s.io/apimachinery/pkg/util/validation/field` words it.

What goes wrong, as the Status objects that clients get; reasons and words are a kube-apiserver's.

Bodies in forms that are not taken, and answers in forms that there are none of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from kruntimes_core.lab.apiserver.objects import Object

_NAMED = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}


def quote(text: str) -> str:
    """`strconv.Quote`: a text between double quotes, with what cannot be printed escaped."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if named := _NAMED.get(character):
        return named
    if character == " " or character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def marshal(value: Any) -> str:
    """`json.Marshal`: compact, keys in order, `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def printed(value: Any) -> str:
    """`%v` of what a JSON text holds: `map[a:1 b:[x y]]`, keys in order."""
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{name}:{printed(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(printed, value)) + "]"
    return "<nil>" if value is None else plain(value)


def plain(value: Any) -> str:
    """`%v` of a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class _Omitted(Enum):
    OMITTED = "omitted"


OMITTED: Final = _Omitted.OMITTED
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

    @property
    def type(self) -> str:
        """The type as the API spells it."""
        return self.value[0]

    @property
    def words(self) -> str:
        """The words that a message begins with."""
        return self.value[1]


_WITHOUT_VALUE = frozenset({Cause.REQUIRED, Cause.FORBIDDEN, Cause.TOO_LONG})
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
        text = self.cause.words
        if self.cause not in _WITHOUT_VALUE and self.value is not OMITTED:
            text += f": {_shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    @property
    def stops_rules(self) -> bool:
        """Whether the rules of the schema are not asked beside this problem."""
        return self.cause in _STOPS_RULES

    def __str__(self) -> str:
        return f"{self.field or '<nil>'}: {self.body}"

    def as_cause(self) -> dict[str, str]:
        """The problem as an entry of `Status.details.causes`."""
        return {"reason": self.cause.type, "message": self.body, "field": self.field or "<nil>"}


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    return plain(value) if isinstance(value, bool | int | float) else marshal(value)


def required(field: str, detail: str = "") -> FieldError:
    """A field that must be there is not."""
    return FieldError(Cause.REQUIRED, field, "", detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """A value is against a rule."""
    return FieldError(Cause.INVALID, field, value, detail)


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    """A value is of another type than the schema wants."""
    return FieldError(Cause.TYPE_INVALID, field, value, detail)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """A value is none of those allowed."""
    listed = ", ".join(map(quote, supported))
    return FieldError(Cause.NOT_SUPPORTED, field, value, f"supported values: {listed}")


def duplicate(field: str, value: Any) -> FieldError:
    """A value that must be unique is there before."""
    return FieldError(Cause.DUPLICATE, field, value)


def forbidden(field: str, detail: str) -> FieldError:
    """A field must not be set now."""
    return FieldError(Cause.FORBIDDEN, field, "", detail)


def too_long(field: str, limit: int) -> FieldError:
    """A text is longer than `limit`."""
    unit = "byte" if limit == 1 else "bytes"
    return FieldError(Cause.TOO_LONG, field, "", f"may not be more than {limit} {unit}")


def too_many(field: str, actual: int, limit: int) -> FieldError:
    """A list or a map has more than `limit` entries."""
    unit = "item" if limit == 1 else "items"
    return FieldError(Cause.TOO_MANY, field, actual, f"must have at most {limit} {unit}")


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


def invalid_object(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
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


def forbidden_request(group: str, plural: str, name: str, why: str) -> ApiError:
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


def unsupported_media_type() -> ApiError:
    """415: a Go type takes no such form; the path is not even found for it."""
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def unknown_format(accepted: Sequence[str]) -> ApiError:
    """415: the body is in a form that is not taken here."""
    listed = ", ".join(accepted)
    message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
    return ApiError(415, "UnsupportedMediaType", message)


def no_server_side_apply() -> ApiError:
    """415: the one form of patch that is not understood here."""
    message = "server-side apply is not supported by the embedded server: apply without --server-side"
    return ApiError(415, "UnsupportedMediaType", message)


def not_acceptable(offered: Sequence[str]) -> ApiError:
    """406: the client takes none of the forms that there are."""
    listed = ", ".join(offered)
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {listed}")


def form_of_one_object(go_type: str) -> ApiError:
    """406: a list is asked for as one object's metadata."""
    message = f"you requested PartialObjectMetadata, but the requested object is a list (*{go_type})"
    return ApiError(406, "NotAcceptable", message)


def form_of_list() -> ApiError:
    """500: one object is asked for as a list of metadata."""
    return ApiError(500, "", "content is not a list")


def too_large_body(limit: int) -> ApiError:
    """413: the body has more bytes than `limit`."""
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)
