"""Affinity targets: active and assumed Runs, counted by their label sets.

Labels come in few distinct sets, so a term is asked once for each distinct set and not once for
each Run. Whether a term has a target at all is a count that follows the changes, never a scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from immutables import Map

from kruntimes_core.model.selectors import LabelSelector, LabelSet

# How many selectors one multiset counts for. More than that, and counting starts anew.
_COUNTED_SELECTORS = 512
# With so many label sets or fewer, as on a Pod, they are looked at faster than counts can follow changes.
_FEW_SETS = 8


class Targets(Mapping[LabelSet, int]):
    """An immutable multiset of label sets: how many target Runs carry each of them."""

    __slots__ = ("_counts", "_sets")

    def __init__(self, sets: Mapping[LabelSet, int] | None = None) -> None:
        self._sets: Map[LabelSet, int] = Map(sets or {})
        self._counts: dict[LabelSelector, int] = {}

    def any(self, selector: LabelSelector) -> bool:
        """Whether at least one target's labels match `selector`."""
        sets = self._sets
        if len(sets) > _FEW_SETS:
            counted = self._counts.get(selector)
            return (self.count(selector) if counted is None else counted) > 0
        for labels in sets:
            answer = labels.answers.get(selector)
            if labels.satisfies(selector) if answer is None else answer:
                return True
        return False

    def count(self, selector: LabelSelector) -> int:
        """How many targets have labels that match `selector`."""
        counted = self._counts.get(selector)
        if counted is None:
            counted = sum(n for labels, n in self._sets.items() if labels.satisfies(selector))
            if len(self._counts) >= _COUNTED_SELECTORS:
                self._counts.clear()
            self._counts[selector] = counted
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
        changed._counts = self._counts_after(labels, difference) if len(changed._sets) > _FEW_SETS else {}
        return changed

    def _counts_after(self, labels: LabelSet, difference: int) -> dict[LabelSelector, int]:
        counts = self._counts.copy()  # a worker may add one meanwhile
        remembered = labels.answers.get
        for selector in counts:
            answer = remembered(selector)
            if labels.satisfies(selector) if answer is None else answer:
                counts[selector] += difference
        return counts

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
