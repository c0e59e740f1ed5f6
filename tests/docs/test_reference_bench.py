"""What is looked up about the live bench is what the code says: its document, its rules, its placeholders."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.cli.bench.report import ROWS
from kruntimes_core.lab.bench.live.load import MOST_RUNS, BenchLoad
from kruntimes_core.lab.bench.live.results import API_VERSION, Results, RoundResult
from kruntimes_core.lab.bench.live.scheduler import PLACEHOLDERS
from kruntimes_core.lab.invariants import Invariant
from tests.docs.pages import first_column, page

DOCUMENT = page("docs/reference/bench-document.md")
HOW_TO = page("docs/how-to/measure.md")
COMMAND = page("docs/reference/cli/bench.md").text


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    round_ = RoundResult(
        number=1,
        expected=1,
        placements=[(1.0, 0.5)],
        created_at=[0.5],
        seconds=1.0,
        figures=dict.fromkeys(ROWS, 1.0),
    )
    results = Results(
        bench="a",
        started_at="2026-01-02T03:04:05Z",
        server="http://127.0.0.1:1",
        version="v1.37.2",
        processors=2,
        load_average=None,
        command=None,
        pid=None,
        load=BenchLoad(),
        in_flight=32,
        rounds=[round_],
        ceiling=[[2.0]],
        violations=[],
        gaps=0,
    )
    return results.document(10.0)


def keys(title: str) -> list[str]:
    return [key for cell in first_column(DOCUMENT.section(title)) for key in cell.split(", ")]


def test_the_document_has_these_keys(document: dict[str, Any]) -> None:
    (round_,) = document["rounds"]
    assert keys("document") == list(document)
    assert keys("load") == list(document["load"])
    assert keys("ceiling") == list(document["ceiling"])
    assert keys("figures") == list(document["summary"]) == list(ROWS)
    assert [*keys("round"), *keys("figures")] == [
        *(key for key in round_ if key not in ROWS),
        *(key for key in round_ if key in ROWS),
    ]
    assert keys("window") == list(round_["windows"][0])
    for part in ("server", "machine", "scheduler"):
        (row,) = [
            line for line in DOCUMENT.section("document").splitlines() if line.startswith(f"| `{part}`")
        ]
        assert all(f"`{key}`" in row for key in document[part])
    assert f"`{API_VERSION}`" in DOCUMENT.text


def test_the_rules_are_the_invariants() -> None:
    assert first_column(HOW_TO.section("Check the rules of placement")) == [rule.value for rule in Invariant]


def test_the_most_runs_of_a_round_are_said() -> None:
    (runs,) = [line for line in COMMAND.splitlines() if line.startswith("| `--runs N`")]
    (rate,) = [line for line in COMMAND.splitlines() if line.startswith("| `--rate N`")]
    assert f"at most {MOST_RUNS:,}" in runs
    assert f"at most {MOST_RUNS:,} Runs" in rate


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_placeholder_is_named(name: str) -> None:
    assert f"`{{{name}}}`" in COMMAND
    assert f"`{{{name}}}`" in HOW_TO.section("Compare with another scheduler")
