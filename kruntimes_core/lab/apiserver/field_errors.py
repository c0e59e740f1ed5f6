"""What is wrong with one field, worded as `k8s.io/apimachinery/pkg/util/validation/field` words it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from kruntimes_core.lab.apiserver.go_text import marshal, plain, quote


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
