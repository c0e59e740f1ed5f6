"""When the targets of a pool's Pods began, or ceased, to match a selector.

A cohort's Runs ask of a Pod whether one of them is there, and nothing of the others. So a Pod where
Runs of other cohorts come and go need not be judged again, however many cohorts there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.framework.runner.changes import Changes
from kruntimes_core.model.selectors import LabelSelector
from kruntimes_core.model.targets import SelectorIndex, Targets

# Selectors that are followed for one Runtime. They come from users; memory must not.
_FOLLOWED = 4_096


class TargetChanges:
    """The changes for each selector that a column asks about."""

    __slots__ = ("_changes", "_index", "age")

    def __init__(self) -> None:
        self.age = 0
        """Grows when all selectors are forgotten: what was followed until then is not any more."""
        self._forget()

    def _forget(self) -> None:
        self.age += 1
        self._index = SelectorIndex()
        self._changes: dict[LabelSelector, Changes] = {}

    @property
    def followed(self) -> bool:
        """Whether anybody asks."""
        return bool(self._changes)

    def follow(self, selectors: Iterable[LabelSelector]) -> list[Changes]:
        """The changes for each of these selectors, from now on."""
        if len(self._changes) >= _FOLLOWED:
            self._forget()
        found = []
        for selector in selectors:
            self._index.selectors[selector] = None
            found.append(self._changes.setdefault(selector, Changes()))
        return found

    def note(self, position: int, before: Targets, after: Targets, turn: int) -> None:
        """The targets of a Pod are others from this turn on; how many share labels does not matter."""
        for labels in before.differing(after):
            for selector in self._index.matching(labels):
                if before.any(selector) != after.any(selector):
                    self._changes[selector].note(position, turn)
