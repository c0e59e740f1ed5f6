"""Indexes of waiting Runs by what their prefilters were told, so that a change finds its readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.targets import Targets

_Entries = dict[RunEntry, None]
"""An ordered set."""


class ReaderIndex:
    """Who asked which question of a namespace's targets, and who names which workspace."""

    def __init__(self) -> None:
        self._by_selector: dict[str, dict[LabelSelector, _Entries]] = {}
        self._of_everything: dict[str, _Entries] = {}
        self._by_workspace: dict[tuple[str, str], _Entries] = {}

    def add(self, entry: RunEntry, prepared: PreFilterState) -> None:
        """Note what a waiting Run was answered from."""
        namespace = entry.run.namespace
        for selector in _selectors(prepared):
            rows = self._by_selector.setdefault(namespace, {})
            rows.setdefault(selector, {})[entry] = None
        if prepared.reads.whole is not None:
            self._of_everything.setdefault(namespace, {})[entry] = None
        if prepared.workspace is not None:
            self._by_workspace.setdefault((namespace, prepared.workspace.name), {})[entry] = None

    def remove(self, entry: RunEntry, prepared: PreFilterState) -> None:
        """The Run does not wait any more, or for another reason."""
        namespace = entry.run.namespace
        rows = self._by_selector.get(namespace, {})
        for selector in _selectors(prepared):
            discard(rows, selector, entry)
        if not rows:
            self._by_selector.pop(namespace, None)
        discard(self._of_everything, namespace, entry)
        if prepared.workspace is not None:
            discard(self._by_workspace, (namespace, prepared.workspace.name), entry)

    def told_otherwise(
        self, namespace: str, labels: LabelSet, before: Targets, after: Targets
    ) -> list[RunEntry]:
        """The Runs to which the targets would give another answer now that `labels` came or went."""
        found: _Entries = dict(self._of_everything.get(namespace, {}))
        for selector, entries in self._by_selector.get(namespace, {}).items():
            if labels.satisfies(selector):
                flipped = before.any(selector) != after.any(selector)
                found.update(dict.fromkeys(e for e in entries if flipped or _counts(e, selector)))
        return list(found)

    def naming(self, namespace: str, workspace: str) -> list[RunEntry]:
        """The Runs that name a workspace."""
        return list(self._by_workspace.get((namespace, workspace), ()))


def discard(index: dict[Any, dict[Any, Any]], key: object, member: object) -> None:
    """Take a member out of an index, and an empty row with it: tables must not only grow."""
    row = index.get(key)
    if row is not None:
        row.pop(member, None)
        if not row:
            del index[key]


def _selectors(prepared: PreFilterState) -> Iterable[LabelSelector]:
    return {**dict.fromkeys(prepared.reads.any_of), **dict.fromkeys(prepared.reads.count_of)}


def _counts(entry: RunEntry, selector: LabelSelector) -> bool:
    return entry.prepared is not None and selector in entry.prepared.reads.count_of
