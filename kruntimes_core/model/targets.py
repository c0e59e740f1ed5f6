"""Affinity targets: active and assumed Runs, counted by their label sets.

Labels come in few distinct sets, so a term is asked once for each distinct set and not once for
each Run. Whether a term has a target at all is a count that follows the changes, never a scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from immutables import Map

from kruntimes_core.model.matching import Matching
from kruntimes_core.model.selectors import LabelSelector, LabelSet

# How many selectors one multiset counts for. More than that, and counting starts anew.
_COUNTED_SELECTORS = 512
# So few label sets, as a Pod has, are looked at faster than counts can follow the changes.
_FEW_SETS = 8


class _Counts(dict[LabelSelector, int]):
    """How many targets match a selector, for those that were asked for."""

    __slots__ = ("asked",)

    def __init__(self, asked: Matching, counts: Mapping[LabelSelector, int] | None = None) -> None:
        super().__init__(counts or ())
        self.asked = asked

    def remember(self, selector: LabelSelector, number: int) -> None:
        """Note a number. First that it was asked for: whoever copies this meanwhile must know of it."""
        self.asked.selectors[selector] = None
        self[selector] = number

    def after(self, labels: LabelSet, difference: int) -> _Counts:
        """The numbers with more or fewer targets that carry `labels`."""
        if len(self.asked.selectors) > 2 * _COUNTED_SELECTORS:
            return _Counts(Matching())
        counts = _Counts(self.asked, self)
        for selector in self.asked.of(labels):
            if selector in counts:
                counts[selector] += difference
        return counts


class Targets(Mapping[LabelSet, int]):
    """An immutable multiset of label sets: how many target Runs carry each of them."""

    __slots__ = ("_counts", "_sets")

    def __init__(self, sets: Mapping[LabelSet, int] | None = None) -> None:
        self._sets: Map[LabelSet, int] = Map(sets or {})
        self._counts = _Counts(Matching()) if len(self._sets) > _FEW_SETS else None

    def any(self, selector: LabelSelector) -> bool:
        """Whether at least one target's labels match `selector`."""
        counts = self._counts
        if counts is not None:
            counted = counts.get(selector)
            return (self.count(selector) if counted is None else counted) > 0
        # Asked in each decision: a generator would cost as much as the answers.
        for labels in self._sets:  # noqa: SIM110
            if labels.satisfies(selector):
                return True
        return False

    def count(self, selector: LabelSelector) -> int:
        """How many targets have labels that match `selector`."""
        counts = self._counts
        counted = counts.get(selector) if counts is not None else None
        if counted is None:
            counted = sum(n for labels, n in self._sets.items() if labels.satisfies(selector))
            if counts is not None:
                if len(counts) >= _COUNTED_SELECTORS:
                    counts = self._counts = _Counts(Matching())
                counts.remember(selector, counted)
        return counted

    def changed_by(self, labels: LabelSet, difference: int) -> Targets:
        """The multiset with `difference` more (or, negative, fewer) targets that carry `labels`."""
        if not difference:
            return self
        number = self._sets.get(labels, 0) + difference
        if number < 0:
            raise ValueError(f"a multiset of targets cannot hold {number} of {labels!r}")
        changed = Targets.__new__(type(self))
        changed._sets = self._sets.set(labels, number) if number else self._sets.delete(labels)
        changed._counts = self._counts_after(labels, difference) if len(changed._sets) > _FEW_SETS else None
        if not number and changed._counts is not None:
            changed._counts.asked.forget(labels)
        return changed

    def _counts_after(self, labels: LabelSet, difference: int) -> _Counts:
        return self._counts.after(labels, difference) if self._counts is not None else _Counts(Matching())

    def __getitem__(self, labels: LabelSet) -> int:
        return self._sets[labels]

    def __iter__(self) -> Iterator[LabelSet]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Targets):
            return NotImplemented
        return self._sets == other._sets

    def __hash__(self) -> int:
        return hash(self._sets)

    def __repr__(self) -> str:
        return f"Targets({dict(self._sets)!r})"
