"""What a prefilter read of the namespace's targets: its answer holds until that changes.

Most Runs have no affinity, and a prefilter that names `targets` does not look at them. So not the
argument is remembered but what was asked of it, and a placement wakes those who asked about it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.targets import Targets


class Reads:
    """The questions that were asked of one `Targets`, with the answers."""

    __slots__ = ("any_of", "count_of", "whole")

    def __init__(self) -> None:
        self.any_of: dict[LabelSelector, bool] = {}
        self.count_of: dict[LabelSelector, int] = {}
        self.whole: Targets | None = None

    def __bool__(self) -> bool:
        return bool(self.any_of or self.count_of or self.whole is not None)

    def hold(self, targets: Targets) -> bool:
        """Whether `targets` would answer each question in the same way."""
        for selector, known in self.any_of.items():
            if targets.any(selector) != known:
                return False
        for selector, number in self.count_of.items():
            if targets.count(selector) != number:
                return False
        return self.whole is None or self.whole == targets

    def merge(self, other: Reads) -> None:
        """Add what another prefilter of the same cycle read."""
        self.any_of.update(other.any_of)
        self.count_of.update(other.count_of)
        if other.whole is not None:
            self.whole = other.whole


class ReadTargets(Targets):
    """The namespace's targets as one call of a prefilter sees them: every question is noted."""

    __slots__ = ("_targets", "reads")

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.reads = Reads()

    def any(self, selector: LabelSelector) -> bool:
        """See `Targets.any`."""
        answer = self._targets.any(selector)
        self.reads.any_of[selector] = answer
        return answer

    def count(self, selector: LabelSelector) -> int:
        """See `Targets.count`."""
        answer = self._targets.count(selector)
        self.reads.count_of[selector] = answer
        return answer

    def changed_by(self, labels: LabelSet, difference: int) -> Targets:
        """See `Targets.changed_by`."""
        return self._all().changed_by(labels, difference)

    def _all(self) -> Targets:
        self.reads.whole = self._targets
        return self._targets

    def __getitem__(self, labels: LabelSet) -> int:
        return self._all()[labels]

    def __iter__(self) -> Iterator[LabelSet]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, labels: object) -> bool:
        return labels in self._all()

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, ReadTargets) else other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
