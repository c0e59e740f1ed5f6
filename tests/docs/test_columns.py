"""What the page about columns says of bounds, sizes and files is so."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable

import pytest

from kruntimes_core import Reject
from kruntimes_core.framework.runtime import (
    columns,
    combinations,
    filtering,
    prefilter,
    runner,
    scoring,
)
from kruntimes_core.framework.runtime.columns import Column
from kruntimes_core.framework.runtime.scores import RawScores
from kruntimes_core.framework.runtime.verdicts import Verdicts
from tests.docs.pages import ROOT, first_column, page, rows

COLUMNS = page("docs/explanation/columns.md")
MEMORY = COLUMNS.section("What it costs in memory")
BOUNDS = {
    "states of a hook": columns._KEPT_STATES,
    "answers of a filter": filtering._KEPT_ANSWERS,
    "answers of a filter that are kept with their details": filtering._KEPT_RECORDS,
    "answers of a scorer": scoring._KEPT_ANSWERS,
    "combinations of states in a profile": combinations._KEPT_COMBINATIONS,
    "answers of a prefilter": prefilter._REMEMBERED,
    "Runtimes": runner._KEPT_POOLS,
}


def test_bounds_are_those_of_the_code() -> None:
    said = [row for row in rows(MEMORY) if len(row) == 2]
    assert said == [[what, f"{bound:,}"] for what, bound in BOUNDS.items()]


def verdicts(pods: int) -> Column:
    """A filter that rejects every third Pod for a reason."""
    full = Reject("Full")
    return filled(Verdicts(), [full if number % 3 else None for number in range(pods)])


def scores(pods: int) -> Column:
    """A scorer with seven answers."""
    return filled(RawScores(), [number % 7 for number in range(pods)])


def different(pods: int) -> Column:
    """A scorer that tells all Pods apart."""
    return filled(RawScores(), [1_000 + number for number in range(pods)])


def filled(column: Column, answers: list[object]) -> Column:
    column.grow(len(answers))
    column.learn(range(len(answers)), (1 << len(answers)) - 1, answers)
    return column


def kilobytes(make: Callable[[int], Column], pods: int) -> float:
    tracemalloc.start()
    try:
        kept = [make(pods) for _ in range(10)]
        return tracemalloc.get_traced_memory()[0] / len(kept) / 1_000
    finally:
        tracemalloc.stop()


KINDS = {"a filter's column": verdicts, "a scorer's column, few different scores": scores}


@pytest.mark.parametrize(
    ("kind", "pods", "size"), [row for row in rows(MEMORY) if len(row) == 3], ids=lambda cell: cell
)
def test_columns_take_what_is_said(kind: str, pods: str, size: str) -> None:
    number = int(pods.removesuffix(" Pods").replace(",", ""))
    assert kilobytes(KINDS[kind], number) == pytest.approx(float(size.removesuffix(" kB")), rel=0.2)


def test_scores_that_all_differ_take_up_to_half_a_kilobyte() -> None:
    assert 0.25 < kilobytes(different, 5_000) / 5_000 < 0.6


def test_files_are_read_in_an_order_that_names_them_once() -> None:
    section = COLUMNS.section("Reading the code")
    named = re.findall(r"`(\w+\.py)`", section)
    assert len(named) == len(set(named))
    assert set(named) <= set(first_column(page("docs/architecture.md").section("The runner")))


def test_the_counts_that_it_speaks_of_are_there() -> None:
    (path,) = re.findall(r"`(tests/[\w/]+)`", COLUMNS.text)
    assert list((ROOT / path).glob("test_*.py"))
