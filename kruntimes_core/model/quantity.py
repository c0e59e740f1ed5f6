"""Exact numbers: Kubernetes quantities, and ratios for scores. No rounding ever decides a placement.

A quantity comes from users, so any string is either refused or read in microseconds: its length is
bounded, and so is an exponent before it is computed. Python's `Decimal` would accept spellings that
Kubernetes refuses (`1_000`, `NaN`, digits of other scripts), and it rounds.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from kruntimes_core.model.messages import quoted
from kruntimes_core.model.validation import whole

MAX_AMOUNT = 2**63 - 1
"""The largest amount that the API knows (a signed 64-bit integer)."""

_NANOS = 10**9
_MAX_LENGTH = 1_024
_MAX_DIGITS = 1_100  # before the decimal point: more than any spelling without exponent can write
_MAX_BITS = 4_096
_EXACT_FLOATS = 2**53

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:[eE](?P<exponent>[+-]?[0-9]+)|(?P<suffix>[KMGTPE]i|[numkMGTPE]?))"
)


class QuantityError(ValueError):
    """A value that cannot be used as an amount; the text says what to write instead.

    unreadable: True when it is not a quantity at all, or too large to be kept (`1K`, `1e`,
    `1e999999999`, a wrong type); False when it was read and is not allowed where it stands
    (`-1`, `500m`, more than 2^63-1).
    """

    def __init__(self, message: str, *, unreadable: bool) -> None:
        super().__init__(message)
        self.unreadable = unreadable


class _TooLargeError(QuantityError):
    """A well-formed quantity with too many digits to compute."""

    def __init__(self, value: object, *, negative: bool) -> None:
        super().__init__(f"{quoted(value)} is too large: write at most {MAX_AMOUNT}", unreadable=True)
        self.negative = negative


def read_quantity(value: object) -> int | Fraction:
    """The exact value of a Kubernetes quantity, in any of its spellings; an int when it is whole.

    value: a string, an int (JSON number, not a bool), or a float that is whole and below 2^53.
    Amounts count in units of 10^-9; what is finer is rounded up, away from zero (apimachinery's
    `ParseQuantity` does the same). Raises `QuantityError` for everything else.
    """
    if isinstance(value, str):
        if len(value) <= 18 and value.isascii() and value.isdigit():
            return int(value)
        return _read_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > _MAX_BITS:
            raise _TooLargeError(value, negative=value < 0)
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOATS:
        return int(value)
    raise QuantityError(f"{quoted(value)} is not a quantity: write a string such as '2'", unreadable=True)


def request_amount(value: object) -> int:
    """The amount of one requested resource: a non-negative integer of at most 2^63-1, zero included.

    Raises `QuantityError` for everything else (API contract, Resources).
    """
    amount = read_quantity(value)
    if amount < 0:
        raise QuantityError(f"{quoted(value)} is negative: request 0 or more", unreadable=False)
    if not isinstance(amount, int):
        raise QuantityError(f"{quoted(value)} is not a whole number: request whole units", unreadable=False)
    if amount > MAX_AMOUNT:
        raise QuantityError(f"{quoted(value)} is too large: request at most {MAX_AMOUNT}", unreadable=False)
    return amount


def capacity_amount(value: object) -> int | Fraction | None:
    """The amount that a Pod advertises of one resource; None unless it is a positive quantity.

    What is above 2^63-1 counts as 2^63-1, however large it was written (API contract, Resources).
    """
    try:
        amount = read_quantity(value)
    except _TooLargeError as error:
        return None if error.negative else MAX_AMOUNT
    except QuantityError:
        return None
    return min(amount, MAX_AMOUNT) if amount > 0 else None


def _read_text(text: str) -> int | Fraction:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(
            f"{quoted(text)} is not a Kubernetes quantity: write a number such as 2, 1.5, 500m, 1Ki or 2e3",
            unreadable=True,
        )
    sign, whole, fraction, exponent, suffix = match.groups("")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    binary = _BINARY.get(suffix)
    power = int(exponent) if exponent else 0 if binary else _DECIMAL[suffix]
    power -= len(fraction)
    if len(digits) + power > _MAX_DIGITS:
        raise _TooLargeError(text, negative=sign == "-")
    nanos = _nanos(digits, power, binary or 0) * (-1 if sign == "-" else 1)
    return nanos // _NANOS if nanos % _NANOS == 0 else Fraction(nanos, _NANOS)


def _nanos(digits: str, power: int, binary: int) -> int:
    """`digits` * 10^power * 2^binary in units of 10^-9, rounded up. More than zero."""
    power += 9
    if len(digits) + power < -_MAX_LENGTH:  # far below one unit: rounded up without being computed
        return 1
    scale: int = 10 ** abs(power)
    number = int(digits) << binary
    return number * scale if power >= 0 else -(-number // scale)


class _RatioParts(NamedTuple):
    rounded: int
    exact: Fraction


class Ratio(_RatioParts):
    """An exact ratio of two integers, ordered as numbers are; equal ratios are equal and hash alike.

    It compares as a tuple. The first part is an integer, which tells most ratios apart at once: to compare
    two fractions takes ten times as long, and a scorer compares thousands.
    """

    # rounded: in units of 2^-64, rounded down.
    __slots__ = ()

    def __new__(cls, rounded: int, exact: Fraction) -> Ratio:
        """The parts of a ratio that `of` made. Raises `ValueError` for parts that differ."""
        if not isinstance(exact, Fraction) or rounded != (exact.numerator << 64) // exact.denominator:
            raise ValueError("a Ratio is made of its numerator and denominator: write Ratio.of(1, 2)")
        return super().__new__(cls, whole("Ratio.rounded", rounded), exact)

    @classmethod
    def of(cls, numerator: int, denominator: int) -> Ratio:
        """Numerator / denominator, whole numbers by their values.

        Raises: `TypeError` for other numbers (floats, `Decimal`, `Fraction`, truth values) and `ValueError`
        for a denominator that is not positive.
        """
        if type(numerator) is not int or type(denominator) is not int or denominator < 1:
            numerator = whole("the numerator of a Ratio", numerator)
            denominator = whole("the denominator of a Ratio", denominator, 1)
        return tuple.__new__(cls, ((numerator << 64) // denominator, Fraction(numerator, denominator)))

    def __float__(self) -> float:
        """Rounded, to be shown."""
        return float(self.exact)

    def __hash__(self) -> int:
        """By the first part: to hash a fraction takes ten times as long."""
        return hash(self.rounded)
