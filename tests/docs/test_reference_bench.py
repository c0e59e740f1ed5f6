"""What is looked up about the live bench is what the code says: its document, its rules, its placeholders."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from kruntimes_core.lab.bench.live.load import MOST_RUNS, Load
from kruntimes_core.lab.bench.live.observing.judge import Rule
from kruntimes_core.lab.bench.live.report.document import API_VERSION, SUMMARY, bench_document
from kruntimes_core.lab.bench.live.report.results import Machine, Results, Round
from kruntimes_core.lab.bench.live.scheduler.command import PLACEHOLDERS
from tests.docs.pages import first_column, page

DOCUMENT = page("docs/reference/bench-document.md")
HOW_TO = page("docs/how-to/measure.md")
COMMAND = page("docs/reference/cli/bench.md").text


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    numbers: dict[str, Any] = {
        field.name: 1.0
        for field in fields(Round)
        if field.name not in ("placements", "created_at", "ceiling", "number", "expected", "counted")
    }
    round_ = Round(
        number=1, expected=1, counted=1, placements=[(1.0, 0.5)], created_at=[0.5], ceiling=[2.0], **numbers
    )
    results = Results(
        bench="a",
        started_at="2026-01-02T03:04:05Z",
        server="http://127.0.0.1:1",
        version="v1.37.2",
        machine=Machine(2, None),
        command=None,
        pid=None,
        load=Load(),
        in_flight=32,
        rounds=[round_],
        ceiling=[[2.0]],
        findings=[],
        gaps=0,
    )
    return bench_document(results, 10.0)


def keys(title: str) -> list[str]:
    return [key for cell in first_column(DOCUMENT.section(title)) for key in cell.split(", ")]


def test_the_document_has_these_keys(document: dict[str, Any]) -> None:
    (round_,) = document["rounds"]
    assert keys("document") == list(document)
    assert keys("load") == list(document["load"])
    assert keys("ceiling") == list(document["ceiling"])
    assert keys("figures") == list(document["summary"]) == list(SUMMARY)
    assert [*keys("round"), *keys("figures")] == [
        *(key for key in round_ if key not in SUMMARY),
        *(key for key in round_ if key in SUMMARY),
    ]
    assert keys("window") == list(round_["windows"][0])
    for part in ("server", "machine", "scheduler"):
        (row,) = [
            line for line in DOCUMENT.section("document").splitlines() if line.startswith(f"| `{part}`")
        ]
        assert all(f"`{key}`" in row for key in document[part])
    assert f"`{API_VERSION}`" in DOCUMENT.text


def test_the_rules_are_those_of_the_judge() -> None:
    assert first_column(HOW_TO.section("What it judges")) == [rule.value for rule in Rule]


def test_the_most_runs_of_a_round_are_said() -> None:
    (runs,) = [line for line in COMMAND.splitlines() if line.startswith("| `--runs N`")]
    (rate,) = [line for line in COMMAND.splitlines() if line.startswith("| `--rate N`")]
    assert f"at most {MOST_RUNS:,}" in runs
    assert f"at most {MOST_RUNS:,} Runs" in rate


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_placeholder_is_named(name: str) -> None:
    assert f"`{{{name}}}`" in COMMAND
    assert f"`{{{name}}}`" in HOW_TO.section("Compare with another scheduler")
