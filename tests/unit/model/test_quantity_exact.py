"""Quantities against an evaluator of their grammar that shares nothing with the code; ratios as fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

from hypothesis import example, given
from hypothesis import strategies as st

from kruntimes_core import Ratio
from kruntimes_core.model.quantity import (
    MAX_AMOUNT,
    QuantityError,
    capacity_amount,
    read_quantity,
    request_amount,
)

DIGITS = "0123456789"
FACTORS = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(1000),
    "M": Fraction(1000**2),
    "G": Fraction(1000**3),
    "T": Fraction(1000**4),
    "P": Fraction(1000**5),
    "E": Fraction(1000**6),
    "Ki": Fraction(1024),
    "Mi": Fraction(1024**2),
    "Gi": Fraction(1024**3),
    "Ti": Fraction(1024**4),
    "Pi": Fraction(1024**5),
    "Ei": Fraction(1024**6),
}
# The pattern of the API's own schema for quantities, with the exponent cut to what its parser takes.
SCHEMA = re.compile(
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?\Z", re.ASCII
)


def exactly(text: str) -> Fraction | None:
    """What a quantity is worth, read digit by digit; None when it is none."""
    if not SCHEMA.match(text):
        return None
    number = text.lstrip("+-")
    digits = number[: len(number) - len(number.lstrip(DIGITS + "."))]
    rest = number[len(digits) :]
    value = Fraction(0)
    for character in digits.replace(".", ""):
        value = value * 10 + DIGITS.index(character)
    value /= Fraction(10) ** (len(digits.partition(".")[2]))
    value *= FACTORS[rest] if rest in FACTORS else Fraction(10) ** int(rest[1:])
    nanos = ceil(value * 10**9)
    return Fraction(-nanos if text.startswith("-") else nanos, 10**9)


def read_or_none(text: str) -> Fraction | None:
    try:
        return Fraction(read_quantity(text))
    except QuantityError:
        return None


numbers = st.one_of(
    st.text(DIGITS, min_size=1, max_size=30),
    st.tuples(st.text(DIGITS, max_size=25), st.text(DIGITS, max_size=25)).map(".".join),
)
exponents = st.integers(-60, 60).flatmap(
    lambda n: st.sampled_from([f"e{n}", f"E{n}", f"e{n:+}", f"E{n:+03}"])
)
quantities = st.tuples(
    st.sampled_from(["", "+", "-"]), numbers, st.one_of(st.sampled_from(sorted(FACTORS)), exponents)
).map("".join)


@given(quantities)
@example("1.E")
@example(".5e3")
def test_the_grammar_is_read_exactly(text: str) -> None:
    assert read_or_none(text) == exactly(text)


@given(st.text(DIGITS[:3] + ".+-eEinumkKMGTP _x\n", max_size=8))
@example("1E1")
@example("1Ei")
@example("1e-0")
def test_any_text_is_refused_or_read_exactly(text: str) -> None:
    assert read_or_none(text) == exactly(text)


@given(st.text(max_size=12))
def test_any_unicode_is_refused_or_read_exactly(text: str) -> None:
    assert read_or_none(text) == exactly(text)


@given(st.one_of(st.integers(0, 2 * MAX_AMOUNT), st.integers(-50, 50).map(lambda n: MAX_AMOUNT + n)))
def test_requests_end_exactly_at_63_bits_and_capacities_stay_there(number: int) -> None:
    for spelling in (number, str(number), f"{number}000m", f"{number}.0", f"{number}e0"):
        if number <= MAX_AMOUNT:
            assert request_amount(spelling) == number
        else:
            assert refuses(spelling)
        assert capacity_amount(spelling) == (min(number, MAX_AMOUNT) or None)


def refuses(spelling: object) -> bool:
    try:
        request_amount(spelling)
    except QuantityError as error:
        return not error.unreadable
    return False


@given(quantities)
def test_a_request_is_a_whole_quantity_in_range_and_nothing_else(text: str) -> None:
    worth = exactly(text)
    allowed = worth is not None and worth.denominator == 1 and 0 <= worth <= MAX_AMOUNT
    try:
        assert request_amount(text) == worth
        assert allowed
    except QuantityError:
        assert not allowed


@given(quantities)
def test_a_capacity_is_a_positive_quantity_and_nothing_else(text: str) -> None:
    worth = exactly(text)
    assert capacity_amount(text) == (min(worth, MAX_AMOUNT) if worth is not None and worth > 0 else None)


NUMERATORS = st.integers(-(2**70), 2**70)
DENOMINATORS = st.integers(1, 2**70)


@given(NUMERATORS, DENOMINATORS, NUMERATORS, DENOMINATORS)
def test_ratios_are_ordered_as_fractions(a: int, b: int, c: int, d: int) -> None:
    one, other = Ratio.of(a, b), Ratio.of(c, d)
    assert (one < other) == (Fraction(a, b) < Fraction(c, d))
    assert (one == other) == (Fraction(a, b) == Fraction(c, d))


def test_ratios_that_round_alike_still_differ() -> None:
    one, close = Ratio.of(1, 3), Ratio.of(2**80 + 3, 3 * 2**80)
    assert one.rounded == close.rounded
    assert one < close


def test_equal_ratios_hash_alike_and_show_as_numbers() -> None:
    assert hash(Ratio.of(1, 4)) == hash(Ratio.of(2, 8))
    assert float(Ratio.of(-1, 4)) == -0.25
