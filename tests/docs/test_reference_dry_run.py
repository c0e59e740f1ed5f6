"""What is said of a dry run is what it says: kinds, hints, documents, tables and rights."""

import io
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest
import yaml

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.scheduler.serve import report_lines
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.dry_run.held_decisions import PATIENCE_SECONDS
from kruntimes_core.cluster.dry_run.report import (
    API_VERSION,
    BLAMED,
    Difference,
    DifferenceKind,
    DryRunReport,
    Hint,
    NotCompared,
    Score,
    ScorePair,
    report_document,
)
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.permissions import REQUIRED, Permission
from kruntimes_core.testing.builders import make_run
from tests.docs.pages import first_column, page, rows

REPORT = page("docs/reference/dry-run.md")
EXPLANATION = page("docs/explanation/dry-run.md")
HOW_TO = page("docs/how-to/replace-the-go-scheduler.md")


@pytest.mark.parametrize(
    ("title", "words"), [("Kinds", DifferenceKind), ("Hints", Hint), ("Not compared", NotCompared)]
)
def test_tables_name_what_there_is(title: str, words: type[StrEnum]) -> None:
    assert first_column(REPORT.section(title)) == [word.value for word in words]


def test_a_plugin_is_named_for_the_kinds_that_have_one() -> None:
    assert {
        DifferenceKind(row[0]) for row in rows(REPORT.section("Kinds")) if not row[2].startswith("none")
    } == BLAMED


def test_the_time_that_is_named_is_kept() -> None:
    said = f"{PATIENCE_SECONDS:g} s"
    table = {row[0]: row[1] for row in rows(REPORT.section("Kinds"))}
    assert all(
        f"within {said}" in table[kind] for kind in (DifferenceKind.LEFT_WAITING, DifferenceKind.LEFT_UNENDED)
    )
    assert f"nothing is seen for {PATIENCE_SECONDS:g} seconds" in EXPLANATION.text


def differing(
    report: DryRunReport, run: str, ours: str, theirs: str, number: int, clear: int, **what: Any
) -> None:
    """So many differences of a sort, the last of them a clear one if any is."""
    for count in range(number):
        hints = (Hint.TIMING,) if count < number - clear else ()
        made = make_run(run, namespace="team-a")
        report.differ(Difference(run=made, ours=ours, theirs=theirs, hints=hints, **what))


def a_report() -> DryRunReport:
    log = Log(io.StringIO(), SystemClock())
    report = DryRunReport(began=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), log=log)
    report.agreed = 4205
    report.not_compared.update({NotCompared.BEFORE: 14, NotCompared.CHANGED: 3})
    pair = ScorePair("LeastLoaded", 1, Score("1/4", 100), Score("3/4", 0))
    lower: dict[str, Any] = {
        "kind": DifferenceKind.POD_SCORED_LOWER,
        "plugin": "LeastLoaded",
        "scores": (pair,),
    }
    full = {
        "kind": DifferenceKind.POD_REJECTED,
        "plugin": "RuntimePodAvailability",
        "reason": "InsufficientCapacity",
    }
    differing(report, "etl-7", "py-1", "py-0", 17, 15, **lower)
    differing(report, "etl-9", "py-1", "py-2", 6, 0, **full)
    return report


@pytest.fixture
def document() -> dict[str, Any]:
    return report_document(a_report(), 2, datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC))


def test_the_table_that_is_shown_is_the_one_that_is_printed(document: dict[str, Any]) -> None:
    (shown,) = (block.text for block in REPORT.blocks if block.language == "text")
    assert shown.splitlines() == list(report_lines(document, Screen()))


def keys(title: str) -> list[str]:
    return [key for cell in first_column(REPORT.section(title)) for key in cell.split(", ")]


def test_the_document_has_these_keys(document: dict[str, Any]) -> None:
    assert keys("document") == list(document)
    assert keys("differences") == list(document["differences"][0])
    assert keys("latest") == list(document["latest"][0])
    assert f"`{API_VERSION}`" in REPORT.section("document")


def test_the_rights_that_are_shown_are_those_to_read() -> None:
    (block,) = (block.text for block in HOW_TO.blocks if block.text.startswith("rules:"))
    shown = {
        Permission(verb, resource, group)
        for rule in yaml.safe_load(block)["rules"]
        for verb in rule["verbs"]
        for resource in rule["resources"]
        for group in rule["apiGroups"]
    }
    reading = {right for right in REQUIRED if right.verb in ("get", "list", "watch")}
    assert shown == {right for right in reading if right.resource != "leases"}
