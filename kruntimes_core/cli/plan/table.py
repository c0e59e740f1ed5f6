"""The decisions of a plan as a table, one line a Run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.table import Column, table

OUTCOME_COLOURS = {
    "Scheduled": "green",
    "Waiting": "yellow",
    "Backoff": "yellow",
    "Failed": "red",
    "Cancelled": "bright_black",
    "Ignored": "bright_black",
}
_NAMESPACE = Column("NAMESPACE"), "namespace"
_COLUMNS = (
    (Column("RUN"), "run"),
    (Column("RUNTIME"), "runtime"),
    (Column("OUTCOME", OUTCOME_COLOURS), "outcome"),
    (Column("POD"), "pod"),
    (Column("REASON"), "reason"),
)
_WIDE = ((Column("UNTIL"), "until"), (Column("NEVER"), "never"), (Column("UID"), "uid"))
_MESSAGE = Column("MESSAGE"), "message"


def decision_table(
    decisions: Sequence[Mapping[str, Any]], screen: Screen, *, wide: bool = False, namespaces: bool = False
) -> Iterator[str]:
    """The lines of the table. namespaces: name them even where there is only one."""
    several = len({decision["namespace"] for decision in decisions}) > 1
    shown = (
        *([_NAMESPACE] if namespaces or several else []),
        *_COLUMNS,
        *(_WIDE if wide else ()),
        _MESSAGE,
    )
    rows = ([_value(decision[key]) for _, key in shown] for decision in decisions)
    return table([column for column, _ in shown], rows, screen)


def _value(value: object) -> object:
    """Truth values as JSON writes them, as kubectl does."""
    return str(value).lower() if isinstance(value, bool) else value
