"""The report of a dry run, for people and for programs: at the end, and whenever somebody asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, standard_output
from kruntimes_core.cli.output.table import Column, table
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer
from kruntimes_core.cluster.dry_run.report import report_document
from kruntimes_core.cluster.observability.endpoints import Page

PATH = "/dry-run"
"""Where the report is served, beside the metrics."""
_COLUMNS = [Column(name) for name in ("KIND", "PLUGIN", "REASON", "RUNS", "CLEAR", "LAST")]


def print_report(comparison: DryRunComparer, clock: Clock, form: str) -> None:
    """Write the report to standard output, as a table or as JSON."""
    document = _document(comparison, clock)
    if form == "json":
        write_json(document)
        return
    for line in report_lines(document, standard_output()):
        click.echo(line)


def report_page(comparison: DryRunComparer, clock: Clock) -> Page:
    """The report as a page: a table, or JSON with `?output=json`."""

    def page(query: Mapping[str, str]) -> tuple[str, str]:
        document = _document(comparison, clock)
        if query.get("output") == "json":
            return json.dumps(document, indent=2) + "\n", "application/json"
        return "\n".join(report_lines(document, Screen())) + "\n", "text/plain"

    return page


def report_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """What was compared in a line or two, and a table of the differences, the most frequent first."""
    yield (
        f"dry run from {document['from']} to {document['to']}: {document['agreed']} agreed,"
        f" {document['differed']} differed, {document['open']} open"
    )
    skipped = [f"{number} {why}" for why, number in document["notCompared"].items() if number]
    if skipped:
        yield f"not compared: {', '.join(skipped)}"
    if document["differences"]:
        yield from table(_COLUMNS, [_row(one) for one in document["differences"]], screen)


def _document(comparison: DryRunComparer, clock: Clock) -> dict[str, Any]:
    return report_document(comparison.report, comparison.held, clock.now().wall)


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    last = one["last"]
    said = f"{last['namespace']}/{last['run']}: {last['ours']} here, {last['theirs']} there"
    return one["kind"], one["plugin"], one["reason"], one["count"], one["clear"], said
