"""The plan document in the form that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from kruntimes_core.cli.output.documents import write_json, write_yaml
from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.text import printable
from kruntimes_core.cli.plan.candidates import explained
from kruntimes_core.cli.plan.options import PlanOptions
from kruntimes_core.cli.plan.table import decision_table

# The kind of the decided Runs as kubectl names it.
_RESOURCE = "run.kruntimes.io"


def show(document: Mapping[str, Any], options: PlanOptions, screen: Screen) -> None:
    """Write `document` to standard output. With --explain, the tables are followed by the candidates."""
    if options.form == "json":
        write_json(document)
    elif options.form == "yaml":
        write_yaml(document)
    else:
        for line in _lines(document["decisions"], options, screen):
            click.echo(line, color=screen.colour)


def _name(decision: Mapping[str, Any], with_namespace: bool) -> str:
    """A Run as arguments of kubectl, for `xargs -L 1 kubectl get`."""
    name = f"{_RESOURCE}/{decision['run']}"
    return printable(f"{name} -n {decision['namespace']}" if with_namespace else name)


def _lines(decisions: list[dict[str, Any]], options: PlanOptions, screen: Screen) -> Iterator[str]:
    if options.form == "name":
        yield from (_name(decision, options.namespace is None) for decision in decisions)
        return
    if decisions:
        yield from decision_table(
            decisions, screen, wide=options.form == "wide", namespaces=options.all_namespaces
        )
    if options.explain:
        yield from explained(decisions, screen)
