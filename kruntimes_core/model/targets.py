"""Affinity targets: the active and assumed Runs, counted by their label sets.

Labels come in few distinct sets, so a term is matched once against each distinct set and not once
against each Run. Where there are many sets, counts of the Runs that a selector matches follow the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from immutables import Map

from kruntimes_core.model.bounded import LARGE
from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.validation import check_instance, mapping, whole

# Label sets whose matching selectors an index remembers. Users write labels: memory must not grow with them.
_REMEMBERED_LABEL_SETS = 4_096
# For how many selectors one multiset keeps counts. Above that it discards all counts.
_COUNTED_SELECTORS = 512
# So few label sets, as a Pod has, are matched faster than counts can follow the changes.
_FEW_SETS = 8


class SelectorIndex:
    """Selectors, and which of them match which label sets; each pair is compared once.

    A change of the Runs with some labels then looks at the selectors that match these labels,
    however many others there are.
    """

    __slots__ = ("_found", "selectors")

    def __init__(self) -> None:
        self.selectors: dict[LabelSelector, None] = {}
        """In the order in which they came, none is ever removed: one thread may add while another reads."""
        self._found: dict[LabelSet, tuple[int, list[LabelSelector]]] = {}

    def matching(self, labels: LabelSet) -> list[LabelSelector]:
        """The selectors that `labels` satisfy. The list must not be changed."""
        looked_at, found = self._found.get(labels, (0, []))
        if looked_at < len(self.selectors):
            later = list(self.selectors)[looked_at:]
            found = found + [selector for selector in later if labels.satisfies(selector)]
            if len(self._found) >= _REMEMBERED_LABEL_SETS:
                self._found.clear()
            self._found[labels] = (looked_at + len(later), found)
        return found

    def forget(self, labels: LabelSet) -> None:
        """Drop what is remembered of labels that no target carries any more."""
        self._found.pop(labels, None)


class SelectorCounts(dict[LabelSelector, int]):
    """How many targets match a selector, for the selectors that a hook asked about."""

    __slots__ = ("index",)

    def __init__(self, index: SelectorIndex, counts: Mapping[LabelSelector, int] | None = None) -> None:
        super().__init__(counts or ())
        self.index = index

    def remember(self, selector: LabelSelector, number: int) -> None:
        """Keep a number. The index gets the selector first, for copies that are made meanwhile."""
        self.index.selectors[selector] = None
        self[selector] = number

    def after(self, labels: LabelSet, difference: int) -> SelectorCounts:
        """The numbers with more or fewer targets that carry `labels`."""
        if len(self.index.selectors) > 2 * _COUNTED_SELECTORS:
            return SelectorCounts(SelectorIndex())
        counts = SelectorCounts(self.index, self)
        for selector in self.index.matching(labels):
            if selector in counts:
                counts[selector] += difference
        return counts


class Targets(Mapping[LabelSet, int]):
    """An immutable multiset of label sets: how many target Runs carry each of them."""

    __slots__ = ("_counts", "_sets")

    def __init__(self, sets: Mapping[LabelSet, int] | None = None) -> None:
        """sets: how many targets carry each label set. Raises: `TypeError`, `ValueError`."""
        counted = {}
        for labels, number in mapping("Targets", sets).items():
            check_instance("a key of Targets", labels, LabelSet)
            counted[labels] = whole("a number of Targets", number, 1)
        self._sets: Map[LabelSet, int] = Map(counted)
        self._counts = SelectorCounts(SelectorIndex()) if len(self._sets) > _FEW_SETS else None

    def any(self, selector: LabelSelector) -> bool:
        """Whether at least one target's labels match `selector`."""
        counts = self._counts
        if counts is not None:
            counted = counts.get(selector)
            return (self.count(selector) if counted is None else counted) > 0
        # Hooks call this in each decision; a generator would cost as much as the matching.
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
            if counts is not None and len(selector) <= LARGE:
                if len(counts) >= _COUNTED_SELECTORS:
                    counts = self._counts = SelectorCounts(SelectorIndex())
                counts.remember(selector, counted)
        return counted

    def changed_by(self, labels: LabelSet, difference: int) -> Targets:
        """The multiset with `difference` more (or, negative, fewer) targets that carry `labels`."""
        if not difference:
            return self
        number = self._sets.get(labels, 0) + difference
        if number < 0:
            raise ValueError(f"a multiset of targets cannot hold {number} of {labels!r}")
        changed = Targets.__new__(Targets)
        changed._sets = self._sets.set(labels, number) if number else self._sets.delete(labels)
        if len(changed._sets) <= _FEW_SETS:
            changed._counts = None
        elif self._counts is None:
            changed._counts = SelectorCounts(SelectorIndex())
        else:
            changed._counts = self._counts.after(labels, difference)
            if not number:
                changed._counts.index.forget(labels)
        return changed

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
