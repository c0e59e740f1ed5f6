"""What happened to the objects of one kind, in order: what watches are told and old lists come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kruntimes_core.lab.apiserver.objects import Key, Object


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """One version of one object. `encoded` keeps its texts, so that each is written once."""

    object: Object
    version: int
    encoded: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One accepted write: what stood before (None: created) and after it (None: deleted).

    told: what watches are told, for a deletion the last state with the version of the deletion.
    """

    version: int
    key: Key
    before: Stored | None
    after: Stored | None
    told: Stored


class History:
    """The last `limit` changes. Whoever asks for older ones is told that they are gone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._changes: list[Change] = []
        self._versions: list[int] = []
        self.forgotten = 0
        """Changes up to this version cannot be told any more; later ones can."""
        self._cut = 0
        self.listeners: set[Callable[[], None]] = set()
        """Called after each change."""

    def add(self, change: Change) -> None:
        """Take one change, and forget the oldest beyond the limit."""
        self._changes.append(change)
        self._versions.append(change.version)
        if len(self._changes) > self._limit:
            self.forgotten = self._versions[-self._limit - 1]
        # Cut now and then, not each time: a list's beginning is expensive to cut.
        if len(self._changes) > 2 * self._limit:
            self._cut = self._versions[-self._limit - 1]
            del self._changes[: -self._limit]
            del self._versions[: -self._limit]
        for listener in tuple(self.listeners):
            listener()

    def missed(self, version: int) -> bool:
        """Whether a change later than `version` is forgotten."""
        seen = bisect_right(self._versions, version)
        return version < self._cut or seen < bisect_right(self._versions, self.forgotten)

    def after(self, version: int) -> Sequence[Change]:
        """The changes later than `version`, which must not be below `forgotten`."""
        return self._changes[bisect_right(self._versions, version) :]

    def reversed_after(self, version: int) -> Iterator[Change]:
        """The same, newest first."""
        return reversed(self.after(version))

    def forget(self, version: int) -> None:
        """Forget all changes up to `version`, as a compaction of etcd does."""
        self.forgotten = max(self.forgotten, version)
