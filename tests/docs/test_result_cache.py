"""What the page about the result cache says of bounds, sizes and files is so."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable

import pytest

from kruntimes_core import Reject
from kruntimes_core.engine.decisions import JOURNAL_BYTES
from kruntimes_core.framework.runtime import filter as filters
from kruntimes_core.framework.runtime import prefilter, result_cache, runner, score
from kruntimes_core.framework.runtime.filter import FilterAnswers
from kruntimes_core.framework.runtime.result_cache import PodAnswers
from kruntimes_core.framework.runtime.score import ScoreAnswers
from kruntimes_core.model import frozen, selectors
from kruntimes_core.model.bounded import KIB, LARGE, MIB
from tests.docs.pages import ROOT, first_column, page, rows

CACHE = page("docs/explanation/result-cache.md")
MEMORY = CACHE.section("What it costs in memory")
BOUNDS = {
    "states of a hook": result_cache.KEPT_STATES,
    "answers of a filter": filters.KEPT_ANSWERS,
    "answers of a filter that are kept whole": filters.KEPT_WHOLE,
    "answers of a scorer": score.KEPT_ANSWERS,
    "combinations of states in a profile": result_cache.KEPT_COMBINATIONS,
    "Runtimes": runner.KEPT_POD_SETS,
}


def test_bounds_are_those_of_the_code() -> None:
    said = [row for row in rows(MEMORY) if len(row) == 2]
    assert said == [[what, f"{bound:,}"] for what, bound in BOUNDS.items()]


BUDGETS = [
    (prefilter.ANSWER_BYTES, prefilter.LARGEST_RUN),
    (prefilter.STATE_BYTES, prefilter.LARGEST_RUN),
    (result_cache.STATE_BYTES, result_cache.LARGEST_STATE),
    (result_cache.STATE_BYTES, result_cache.LARGEST_STATE),
    (selectors.COMPILED_BYTES, LARGE),
    (selectors.ANSWER_BYTES, LARGE),
    (frozen.REMEMBERED_TEXTS_BYTES, frozen.LONGEST_TEXT),
]


def test_budgets_are_those_of_the_code() -> None:
    *said, journal = rows(CACHE.section("Large Runs"))
    budgets = [(f"{budget // MIB} MiB", f"{largest // KIB} KiB") for budget, largest in BUDGETS]
    assert [(row[1], row[2].removesuffix(" of text")) for row in said] == budgets
    assert journal[1] == f"{JOURNAL_BYTES // MIB} MiB"


def verdicts(pods: int) -> PodAnswers:
    """A filter that rejects every third Pod for a reason."""
    full = Reject("Full")
    return filled(FilterAnswers(), [full if number % 3 else None for number in range(pods)])


def scores(pods: int) -> PodAnswers:
    """A scorer with seven answers."""
    return filled(ScoreAnswers(), [number % 7 for number in range(pods)])


def different(pods: int) -> PodAnswers:
    """A scorer that tells all Pods apart."""
    return filled(ScoreAnswers(), [1_000 + number for number in range(pods)])


def filled(kept: PodAnswers, answers: list[object]) -> PodAnswers:
    kept.grow(len(answers))
    kept.learn(range(len(answers)), (1 << len(answers)) - 1, answers)
    return kept


def kilobytes(make: Callable[[int], PodAnswers], pods: int) -> float:
    tracemalloc.start()
    try:
        kept = [make(pods) for _ in range(10)]
        return tracemalloc.get_traced_memory()[0] / len(kept) / 1_000
    finally:
        tracemalloc.stop()


KINDS = {
    "a filter's answers for one state": verdicts,
    "a scorer's answers for one state, few different scores": scores,
}


@pytest.mark.parametrize(
    ("kind", "pods", "size"), [row for row in rows(MEMORY) if row[1].endswith(" Pods")], ids=lambda cell: cell
)
def test_answers_take_what_is_said(kind: str, pods: str, size: str) -> None:
    number = int(pods.removesuffix(" Pods").replace(",", ""))
    assert kilobytes(KINDS[kind], number) == pytest.approx(float(size.removesuffix(" kB")), rel=0.2)


def test_scores_that_all_differ_take_up_to_half_a_kilobyte() -> None:
    assert 0.25 < kilobytes(different, 5_000) / 5_000 < 0.6


def test_files_are_read_in_an_order_that_names_them_once() -> None:
    section = CACHE.section("Read the code")
    named = re.findall(r"`(\w+\.py)`", section)
    assert len(named) == len(set(named))
    assert set(named) <= set(first_column(page("docs/architecture.md").section("Inside the runtime")))


def test_the_counts_that_it_speaks_of_are_there() -> None:
    (path,) = re.findall(r"`(tests/[\w/]+)`", CACHE.text)
    assert list((ROOT / path).rglob("test_*.py"))
