"""Ratios are ordered as the fractions that they are, however close, and equal ones hash alike."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Ratio

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
