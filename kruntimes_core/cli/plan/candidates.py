"""What `plan --explain` adds to the table: for each Run, what spoke for and against every Pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.table import Column, table
from kruntimes_core.cli.output.text import printable

_COLUMNS = (
    Column("POD"),
    Column("VERDICT", {"chosen": "green", "rejected": "red"}),
    Column("TOTAL"),
    Column("SCORES"),
    Column("WHY NOT"),
)
_INDENT = "  "


def explained(decisions: Iterable[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """A heading for each Run, and below it the Pods of its Runtime by name.

    A score reads `plugin raw->normalized*weight`.
    """
    for decision in decisions:
        yield ""
        yield _heading(decision)
        candidates = decision.get("candidates")
        if candidates:
            yield from table(_COLUMNS, map(_row, candidates), screen, _INDENT)
        else:
            yield f"{_INDENT}no candidates"


def _heading(decision: Mapping[str, Any]) -> str:
    run = f"{decision['namespace']}/{decision['run']} (runtime {decision['runtime']})"
    where = f" on {decision['pod']}" if decision["pod"] else f", {decision['reason']}"
    return printable(f"{run}: {decision['outcome']}{where}")


def _row(candidate: Mapping[str, Any]) -> tuple[object, ...]:
    scores = ", ".join(_score(plugin, score) for plugin, score in (candidate["scores"] or {}).items())
    total = candidate["total"]
    return candidate["pod"], candidate["verdict"], total, scores, _why_not(candidate)


def _score(plugin: str, score: Mapping[str, Any]) -> str:
    return f"{plugin} {score['raw']}->{score['normalized']}*{score['weight']}"


def _why_not(candidate: Mapping[str, Any]) -> str | None:
    if not candidate["reason"]:
        return None
    detail = f" ({candidate['detail']})" if candidate["detail"] else ""
    return f"{candidate['plugin']}: {candidate['reason']}{detail}"
