"""Which of many selectors match a set of labels: each set is compared with each selector once."""

from __future__ import annotations

from kruntimes_core.model.selectors import LabelSelector, LabelSet

# Label sets whose matching selectors are remembered. Labels come from users; memory must not.
_REMEMBERED = 4_096


class Matching:
    """Selectors that somebody asks about, and which of them match which label sets.

    So a change looks at the selectors that match it, however many others are asked about.
    """

    __slots__ = ("_found", "selectors")

    def __init__(self) -> None:
        self.selectors: dict[LabelSelector, None] = {}
        """In order, and only growing; one thread may add one while another looks for those that match."""
        self._found: dict[LabelSet, tuple[int, list[LabelSelector]]] = {}

    def of(self, labels: LabelSet) -> list[LabelSelector]:
        """Those that `labels` satisfy; not to be changed."""
        looked_at, found = self._found.get(labels, (0, []))
        if looked_at < len(self.selectors):
            later = list(self.selectors)[looked_at:]
            found = found + [selector for selector in later if labels.satisfies(selector)]
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[labels] = (looked_at + len(later), found)
        return found

    def forget(self, labels: LabelSet) -> None:
        """Nothing has these labels any more."""
        self._found.pop(labels, None)
