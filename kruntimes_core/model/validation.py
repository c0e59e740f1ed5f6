"""What the constructors of public values accept: a wrong type is refused there, where its author can see it.

A value of a wrong type would not fail later: it would match nothing or hold no amount, and decide in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from operator import index
from typing import Any, NoReturn, TypeVar

from kruntimes_core.model.messages import quoted

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

MAX_WEIGHT = 100
"""The largest weight of a preferred term."""


def refuse(what: str, value: object, wanted: str) -> NoReturn:
    """Raise the `TypeError` of an argument. what: as `Run.name`. wanted: what to give instead."""
    raise TypeError(f"{what} is {quoted(value)}: give {wanted}")


def check_text(what: str, value: object) -> None:
    """Raises `TypeError` for what is not a text."""
    if not isinstance(value, str):
        refuse(what, value, "a text")


def check_optional_text(what: str, value: object) -> None:
    """Raises `TypeError` for what is neither a text nor None."""
    if value is not None:
        check_text(what, value)


def check_texts(what: str, items: Mapping[Any, Any]) -> None:
    """Raises `TypeError` for keys and values that are not texts."""
    for key, value in items.items():
        check_text(f"a key of {what}", key)
        check_text(f"{what}[{quoted(key)}]", value)


def check_instance(what: str, value: object, kind: type) -> None:
    """Raises `TypeError` for what is not of that class."""
    if not isinstance(value, kind):
        refuse(what, value, f"a {kind.__name__}")


def check_time(what: str, value: object) -> None:
    """Raises `TypeError` for what is not a time, and `ValueError` for a time without a zone."""
    if not isinstance(value, datetime):
        refuse(what, value, "a datetime with a time zone")
    if value.tzinfo is None:
        raise ValueError(f"{what} is {value.isoformat()} without a time zone: give it one, as in UTC")


def whole(
    what: str,
    value: object,
    least: int | None = None,
    most: int | None = None,
    wanted: str = "a whole number",
) -> int:
    """A whole number by its value (an `IntEnum`, an integer of numpy), as an `int`.

    What has an `__index__` is one, but for truth values: Python gives one only to exact integers. Raises
    `TypeError` for anything else (floats, `Decimal`, `Fraction` and texts too), `ValueError` out of bounds.
    """
    if isinstance(value, bool):
        refuse(what, value, wanted)
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        refuse(what, value, wanted)
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what} is {quoted(number)}: give {wanted}, {bounds}")
    return number


def amounts(what: str, items: Mapping[Any, Any], *, least: int = 1, exact: bool = False) -> dict[str, Any]:
    """Amounts by resource name. least: of each. exact: a `Fraction` is one too, a whole one becomes int."""
    checked: dict[str, Any] = {}
    for resource, amount in items.items():
        check_text(f"a resource of {what}", resource)
        checked[resource] = _amount(f"{what}[{quoted(resource)}]", amount, least, exact)
    return checked


def _amount(what: str, amount: object, least: int, exact: bool) -> int | Fraction:
    if not exact:
        return whole(what, amount, least)
    if not isinstance(amount, Fraction):
        return whole(what, amount, least, wanted="a whole number or a Fraction")
    if amount <= 0:
        raise ValueError(f"{what} is {amount}: give a positive amount")
    return amount.numerator if amount.denominator == 1 else amount


def mapping(what: str, value: object) -> Mapping[Any, Any]:
    """A mapping as it is, None as an empty one. Raises `TypeError` for anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(what, value, "a mapping")
    return value


def member(what: str, value: object, kind: type[E]) -> E:
    """A member of an enumeration, also by its text. Raises `ValueError` for another text, `TypeError`."""
    if isinstance(value, kind):
        return value
    check_text(what, value)
    try:
        return kind(str(value))
    except ValueError:
        known = ", ".join(one.value for one in kind)
        raise ValueError(f"{what} is {quoted(value)}: give one of {known}") from None


def members_of(what: str, values: object, kind: type[T]) -> Iterable[T]:
    """The values, each of that class. Raises `TypeError`: a text or a mapping is no list of values either."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        refuse(what, values, f"a list or a set of {kind.__name__}")
    listed = tuple(values)
    for value in listed:
        check_instance(f"a member of {what}", value, kind)
    return listed
