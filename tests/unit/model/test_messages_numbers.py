"""One Run, two Runs: whatever says a number says its noun as it stands after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import kruntimes_core
from kruntimes_core.model.messages import counted, plural

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
