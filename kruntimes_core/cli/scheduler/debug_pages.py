"""The pages of the debug address, which name Runs and namespaces, and the report of a dry run at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, print_lines, standard_output
from kruntimes_core.cli.output.table import table
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer
from kruntimes_core.cluster.dry_run.report import report_document
from kruntimes_core.cluster.observability.endpoints import Page
from kruntimes_core.framework.configuration import (
    Configuration,
    Profiles,
    describe_plugins,
    effective_document,
    plugins_document,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry

REPORT_PATH = "/dry-run"
_HEADINGS = ("KIND", "PLUGIN", "REASON", "RUNS", "CLEAR", "LAST")


def print_report(comparer: DryRunComparer, clock: Clock, form: str) -> None:
    """Write the report to standard output, as a table or as JSON."""
    document, screen = _document(comparer, clock), standard_output()
    if form == "json":
        write_json(document)
    else:
        print_lines(report_lines(document, screen), screen)


def report_page(comparer: DryRunComparer, clock: Clock) -> Page:
    """The report as a page: a table, or JSON with `?output=json`."""

    def page(query: Mapping[str, str]) -> tuple[str, str]:
        document = _document(comparer, clock)
        if query.get("output") == "json":
            return _json(document)
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
        yield from table(_HEADINGS, [_row(one) for one in document["differences"]], screen)


def _document(comparer: DryRunComparer, clock: Clock) -> dict[str, Any]:
    return report_document(comparer.report, comparer.held, clock.now().wall)


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    last = one["last"]
    said = f"{last['namespace']}/{last['run']}: {last['ours']} here, {last['theirs']} there"
    return one["kind"], one["plugin"], one["reason"], one["count"], one["clear"], said


# What decides


def decider_pages(in_force: Callable[[], tuple[Configuration, PluginRegistry, Profiles]]) -> dict[str, Page]:
    """Pages of the configuration and of the plugins by which Runs are placed now, as documents.

    in_force: the configuration, its plugins, and the profiles built from it; called for each request.
    """

    def configuration(_: object) -> tuple[str, str]:
        now, registry, _profiles = in_force()
        return _json(effective_document(now, registry))

    def plugins(_: object) -> tuple[str, str]:
        now, registry, profiles = in_force()
        return _json(plugins_document(describe_plugins(now, registry, decides=profiles)))

    return {"/configuration": configuration, "/plugins": plugins}


def _json(document: Any) -> tuple[str, str]:
    return json.dumps(document, indent=2, default=str) + "\n", "application/json"
