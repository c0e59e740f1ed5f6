import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.messages import did_you_mean, quoted


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1K", "'1K'"),
        ("", "''"),
        ("it's", '"it\'s"'),
        ("a\nb", r"'a\nb'"),
        ("\ud800", r"'\ud800'"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (-1.5, "-1.5"),
        (10**500, "a number of very many digits"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (b"x", "a bytes"),
    ],
    ids=range(14),
)
def test_values_are_shown_as_a_user_would_know_them(value: object, shown: str) -> None:
    assert quoted(value) == shown


@given(st.one_of(st.text(), st.text(min_size=100), st.integers(), st.floats()))
def test_what_is_shown_is_short_and_one_line_and_can_be_sent(value: object) -> None:
    shown = quoted(value)
    assert len(shown) <= 120
    assert len(shown.encode().splitlines()) == 1


def test_a_long_text_is_cut_visibly() -> None:
    assert quoted("x" * 118) == "'" + "x" * 118 + "'"
    assert quoted("x" * 119) == "'" + "x" * 115 + "...'"
    assert quoted("x" * 1_000) == "'" + "x" * 115 + "...'"
    assert quoted("\n" * 100).endswith("...'")


@pytest.mark.parametrize(
    ("word", "known", "clause"),
    [
        ("run_affinity", ["RunAffinity", "LeastLoaded"], ": write RunAffinity"),
        ("LeastLoad", ["RunAffinity", "LeastLoaded"], ": did you mean LeastLoaded?"),
        ("x", ["b", "a"], ": known are a, b"),
        ("x", [], ""),
    ],
)
def test_an_unknown_name_is_answered_with_the_names_that_are_known(
    word: str, known: list[str], clause: str
) -> None:
    assert did_you_mean(word, known) == clause
