import reprlib
import tracemalloc
from collections.abc import Callable
from fractions import Fraction

import pytest

from kruntimes_core.model.quantity import (
    MAX_AMOUNT,
    QuantityError,
    capacity_amount,
    read_quantity,
    request_amount,
)

SPELLINGS_OF_INTEGERS = [
    ("0", 0),
    ("-0", 0),
    ("+7", 7),
    ("007", 7),
    ("1e3", 1000),
    ("1E3", 1000),
    ("1e+3", 1000),
    ("10e-1", 1),
    ("1k", 1000),
    ("1000", 1000),
    ("1000.0", 1000),
    ("1000000m", 1000),
    ("3000000u", 3),
    ("4000000000n", 4),
    (".5k", 500),
    ("2.", 2),
    ("0.5Ki", 512),
    ("1Ki", 1024),
    ("1Mi", 2**20),
    ("3Gi", 3 * 2**30),
    ("1Ti", 2**40),
    ("1Pi", 2**50),
    ("7Ei", 7 * 2**60),
    ("1M", 10**6),
    ("1G", 10**9),
    ("1T", 10**12),
    ("500P", 5 * 10**17),
    ("1E", 10**18),
    ("9223372036854775807", MAX_AMOUNT),
    ("9007199254740993", 2**53 + 1),
    (3, 3),
    (3.0, 3),
    (-0.0, 0),
    ("0e999999999", 0),
    ("0" * 1_000 + "2", 2),
]


@pytest.mark.parametrize(("spelling", "amount"), SPELLINGS_OF_INTEGERS, ids=reprlib.repr)
def test_every_spelling_of_an_integer_is_that_integer(spelling: object, amount: int) -> None:
    assert read_quantity(spelling) == amount
    assert type(read_quantity(spelling)) is int
    assert request_amount(spelling) == amount


@pytest.mark.parametrize(
    ("spelling", "amount"),
    [
        ("500m", Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        ("2.5", Fraction(5, 2)),
        ("1n", Fraction(1, 10**9)),
        ("0.1n", Fraction(1, 10**9)),
        ("1.1n", Fraction(2, 10**9)),
        ("1e-999999999", Fraction(1, 10**9)),
        ("0." + "0" * 900 + "1", Fraction(1, 10**9)),
        ("0.0000000001Ki", Fraction(103, 10**9)),
        ("-0.5", Fraction(-1, 2)),
        ("-0.1n", Fraction(-1, 10**9)),
        ("999m", Fraction(999, 1000)),
    ],
    ids=reprlib.repr,
)
def test_fractions_are_exact_to_the_nano_unit_and_rounded_away_from_zero(
    spelling: str, amount: Fraction
) -> None:
    assert read_quantity(spelling) == amount
    with pytest.raises(QuantityError) as refusal:
        request_amount(spelling)
    assert not refusal.value.unreadable


NO_QUANTITIES: list[object] = [
    "",
    " ",
    "1K",
    "1 Gi",
    " 1",
    "1 ",
    "1\n",
    "1e",
    "1E+",
    "1e1.5",
    "1.2.3",
    "1e3Ki",
    "1ki",
    "1kk",
    "0x10",
    "NaN",
    "Infinity",
    "-inf",
    "1_000",
    "1,000",
    "--1",
    "+-1",
    ".",
    "-",
    "+",
    "k",
    ".Ki",
    "e3",
    "abc",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "1\N{SUPERSCRIPT TWO}",
    "\N{FULLWIDTH DIGIT ONE}",
    "1e\N{ARABIC-INDIC DIGIT THREE}",
    "9" * 1_025,
    None,
    True,
    False,
    1.5,
    2.0**53,
    float("nan"),
    float("inf"),
    [],
    {},
    b"1",
]


@pytest.mark.parametrize("value", NO_QUANTITIES, ids=reprlib.repr)
def test_what_is_no_quantity_is_refused_as_unreadable(value: object) -> None:
    for read in (read_quantity, request_amount):
        with pytest.raises(QuantityError) as refusal:
            read(value)
        assert refusal.value.unreadable
    assert capacity_amount(value) is None


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("-1", "'-1' is negative"),
        (-1, "-1 is negative"),
        ("-0.5", "'-0.5' is negative"),
        ("500m", "'500m' is not a whole number"),
        ("9223372036854775808", "at most 9223372036854775807"),
        (2**63, "at most 9223372036854775807"),
        ("9.223372036854775808E", "at most 9223372036854775807"),
        ("16Ei", "at most 9223372036854775807"),
        ("1e1000", "at most 9223372036854775807"),
    ],
)
def test_a_request_that_can_be_read_and_is_not_allowed_says_so(value: object, says: str) -> None:
    with pytest.raises(QuantityError, match=says) as refusal:
        request_amount(value)
    assert not refusal.value.unreadable


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("4", 4),
        ("2.5", Fraction(5, 2)),
        ("999m", Fraction(999, 1000)),
        ("1n", Fraction(1, 10**9)),
        ("9007199254740993", 9007199254740993),
        ("1E", 10**18),
        ("9223372036854775807", MAX_AMOUNT),
        ("9223372036854775808", MAX_AMOUNT),
        ("9223372036854775807.5", MAX_AMOUNT),
        ("16Ei", MAX_AMOUNT),
        ("1e999999999", MAX_AMOUNT),
        (10**2_000, MAX_AMOUNT),
        ("", None),
        ("abc", None),
        ("0", None),
        ("-0", None),
        ("-3", None),
        ("-1e999999999", None),
        (-(10**2_000), None),
        ("1K", None),
    ],
    ids=reprlib.repr,
)
def test_a_capacity_is_a_positive_quantity_and_ends_at_63_bits(
    value: object, amount: int | Fraction | None
) -> None:
    assert capacity_amount(value) == amount


@pytest.mark.parametrize(
    "value", ["1e999999999", "-1e999999999", "1e" + "9" * 1_000, 10**3_000, "1e1200"], ids=reprlib.repr
)
def test_what_is_too_large_to_be_kept_is_unreadable(value: object) -> None:
    with pytest.raises(QuantityError, match="at most 9223372036854775807") as refusal:
        read_quantity(value)
    assert refusal.value.unreadable


def _peak_bytes(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "9" * 1_000_000,
        "0" * 1_000_000,
        "1." + "0" * 1_000_000,
        "1e" + "9" * 1_000_000,
        "x" * 1_000_000,
        "1e999999999",
        "1e-999999999",
        "0e999999999",
        "9" * 1_000 + "e999999999",
        "9" * 1_000 + "e-2147483648",
        "1e" + "0" * 1_000 + "7",
    ],
    ids=reprlib.repr,
)
def test_no_string_makes_the_reader_compute_large_numbers(text: str) -> None:
    """The number itself would take 100 kB and more; a refusal and a small answer take next to nothing."""
    capacity_amount(text)  # what is only made once is not counted
    assert _peak_bytes(lambda: capacity_amount(text)) < 32_000


def test_a_refusal_shows_no_more_than_a_piece_of_what_was_written() -> None:
    with pytest.raises(QuantityError) as refusal:
        read_quantity("9" * 1_000_000)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("amount", [MAX_AMOUNT - 1, MAX_AMOUNT, 2**62, 2**53 + 1, 10**18 + 1, 1])
def test_sums_at_the_end_of_63_bits_neither_wrap_nor_round(amount: int) -> None:
    capacity = capacity_amount(str(MAX_AMOUNT))
    assert capacity is not None
    assert (request_amount(str(amount)) + request_amount(str(MAX_AMOUNT - amount))) == capacity
    assert (request_amount(str(amount)) + request_amount(str(MAX_AMOUNT - amount)) + 1) > capacity


def test_the_longest_spelling_that_is_read_has_1024_characters() -> None:
    assert read_quantity("0" * 1_023 + "7") == 7
    with pytest.raises(QuantityError):
        read_quantity("0" * 1_024 + "7")
