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
    Column("WHY"),
)
_INDENT = "  "
# Who rejected a Pod where no plugin did: the host's own check of room.
_HOST = "host"


def explanation(decisions: Iterable[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """A heading for each Run, and below it the Pods of its Runtime by name.

    A score reads `plugin normalized*weight (raw)`, without the raw one where it is the same.
    """
    for decision in decisions:
        yield ""
        yield _heading(decision)
        candidates = decision.get("candidates")
        if candidates:
            yield from table(_COLUMNS, map(_row, candidates), screen, _INDENT, whole=True)
        else:
            yield f"{_INDENT}no candidates"


def _heading(decision: Mapping[str, Any]) -> str:
    run = f"{decision['namespace']}/{decision['run']} (runtime {decision['runtime']})"
    outcome, reason = decision["outcome"], decision["reason"]
    more = f" on {decision['pod']}" if decision["pod"] else f", {reason}" if reason != outcome else ""
    return printable(f"{run}: {outcome}{more}")


def _row(candidate: Mapping[str, Any]) -> tuple[object, ...]:
    return candidate["pod"], candidate["verdict"], candidate["total"], _why_not(candidate) or _why(candidate)


def _why(candidate: Mapping[str, Any]) -> str:
    return "; ".join(_score(plugin, score) for plugin, score in (candidate["scores"] or {}).items())


def _score(plugin: str, score: Mapping[str, Any]) -> str:
    normalized, raw = str(score["normalized"]), score["raw"]
    return f"{plugin} {normalized}*{score['weight']}" + (f" ({raw})" if raw != normalized else "")


def _why_not(candidate: Mapping[str, Any]) -> str | None:
    if not candidate["reason"]:
        return None
    detail = f" ({candidate['detail']})" if candidate["detail"] else ""
    return f"{candidate['plugin'] or _HOST}: {candidate['reason']}{detail}"
