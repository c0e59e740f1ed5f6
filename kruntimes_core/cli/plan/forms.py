"""The plan document in the form that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from kruntimes_core.cli.output.documents import stream_json, stream_yaml
from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.text import printable
from kruntimes_core.cli.plan.candidates import explanation
from kruntimes_core.cli.plan.options import PlanOptions
from kruntimes_core.cli.plan.table import decision_table

# The kind of the decided Runs as kubectl names it.
_RESOURCE = "run.kruntimes.io"


Decisions = Sequence[Mapping[str, Any]]


def show(
    head: Mapping[str, Any],
    decisions: Decisions,
    explained: Iterator[Mapping[str, Any]] | None,
    options: PlanOptions,
    screen: Screen,
) -> None:
    """Write a plan to standard output.

    explained: the decisions with their candidates, made one by one as they are written; or None.
    """
    if options.form == "json":
        stream_json(head, "decisions", explained or decisions)
    elif options.form == "yaml":
        stream_yaml(head, "decisions", explained or decisions)
    else:
        for line in _lines(decisions, explained, options, screen):
            click.echo(line, color=screen.colour)


def _name(decision: Mapping[str, Any], with_namespace: bool) -> str:
    """A Run as arguments of kubectl, for `xargs -L 1 kubectl get`."""
    name = f"{_RESOURCE}/{decision['run']}"
    return printable(f"{name} -n {decision['namespace']}" if with_namespace else name)


def _lines(
    decisions: Decisions,
    explained: Iterator[Mapping[str, Any]] | None,
    options: PlanOptions,
    screen: Screen,
) -> Iterator[str]:
    if options.form == "name":
        yield from (_name(decision, options.namespace is None) for decision in decisions)
        return
    if decisions:
        yield from decision_table(
            decisions, screen, wide=options.form == "wide", namespaces=options.all_namespaces
        )
    if explained is not None:
        yield from explanation(explained, screen)
