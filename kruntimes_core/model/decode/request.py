"""`spec.resources` of a Run: what it asks for, and what it occupies even when that is not allowed."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from kruntimes_core.model.decode.fields import NOTHING, optional_members
from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.quantity import MAX_AMOUNT, QuantityError, read_quantity, request_amount

RUNS = "runs"
_PATH = "spec.resources.requests"


def requested(resources: object) -> dict[str, int]:
    """The complete request: positive integers by resource name, `runs` always among them.

    Raises `FieldError` for the first amount that is no non-negative integer up to 2^63-1 (API
    contract, Resources). Zero is dropped, but a zero or missing `runs` is 1.
    """
    amounts = {}
    for resource, value in _entries(resources).items():
        amount = _amount(resource, value)
        if amount:
            amounts[resource] = amount
    amounts.setdefault(RUNS, 1)
    return amounts


def readable(resources: object) -> dict[str, int]:
    """What can be read of a request that is not allowed: an active Run must not hold less than that.

    A fraction is rounded up, what is above 2^63-1 counts as that, negative and unreadable amounts
    are dropped; `runs` is at least 1.
    """
    amounts = {}
    for resource, value in _entries_or_none(resources).items():
        try:
            amount = min(ceil(read_quantity(value)), MAX_AMOUNT)
        except QuantityError:
            continue
        if amount > 0 and isinstance(resource, str):
            amounts[resource] = amount
    amounts.setdefault(RUNS, 1)
    return amounts


def _entries(resources: object) -> Mapping[str, object]:
    return optional_members(optional_members(resources, "spec.resources").get("requests"), _PATH)


def _entries_or_none(resources: object) -> Mapping[str, object]:
    try:
        return _entries(resources)
    except FieldError:
        return NOTHING


def _amount(resource: object, value: object) -> int:
    path = f"{_PATH}[{quoted(resource)}]"
    if not isinstance(resource, str):
        raise FieldError(path, "a resource name must be a string")
    try:
        return request_amount(value)
    except QuantityError as error:
        raise FieldError(path, str(error), unreadable=error.unreadable) from None
