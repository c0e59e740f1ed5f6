"""What messages to a user are made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kruntimes_core
from kruntimes_core.model.messages import counted, did_you_mean, plural, quoted


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


NOUNS = (
    "Run|Pod|Runtime Pod|Runtime|Event|plugin|placement|request|call|round|processor|slot|namespace|object"
    "|write|value|score|cohort|decision|difference"
)
PLURAL = re.compile(rf"^ (ready |more )?({NOUNS})s\b")


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 Runs"), (1, "1 Run"), (2, "2 Runs"), (1_000, "1000 Runs")]
)
def test_a_number_and_its_noun(number: int, said: str) -> None:
    assert counted(number, "Run") == said


def test_a_rate_has_its_noun_too() -> None:
    assert [f"{rate:g} {plural(rate, 'Run')}" for rate in (0.5, 1.0, 1.5)] == [
        "0.5 Runs",
        "1 Run",
        "1.5 Runs",
    ]


def fixed_plurals(text: str) -> Iterator[int]:
    """The lines of the f-strings in which a noun is plural whatever the number before it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            for before, after in pairwise(node.values):
                constant = isinstance(after, ast.Constant) and PLURAL.match(str(after.value))
                if isinstance(before, ast.FormattedValue) and constant:
                    yield node.lineno


def test_fixed_plurals_are_found() -> None:
    said = 'a = f"{n} Runs: {m} Pods"\nb = f"{n} Run"\nc = f"{n:g} Runs a second"\nd = f"{name} Runsome"\n'
    assert list(fixed_plurals(said)) == [1, 1, 3]


def test_no_message_says_one_runs() -> None:
    package = Path(str(kruntimes_core.__file__)).parent
    found = [
        f"{file.relative_to(package)}:{line}"
        for file in sorted(package.rglob("*.py"))
        for line in fixed_plurals(file.read_text())
    ]
    assert found == []
