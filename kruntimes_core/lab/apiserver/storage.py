"""The stored objects: one table and history of changes for each kind, and one counter of versions for all.

Nothing here knows what an object means. It is entered by one thread at a time and does no I/O.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kruntimes_core.lab.apiserver.objects import Key, Object, key_of, with_metadata


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
    """The last `limit` changes. Older ones are gone: a client gets a 410."""

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

    def forget(self, version: int) -> None:
        """Forget all changes up to `version`, as a compaction of etcd does."""
        self.forgotten = max(self.forgotten, version)


HISTORY_LIMIT = 10_000
"""Changes kept for each kind unless said otherwise; a kube-apiserver keeps minutes of them."""


class Table:
    """All objects of one kind and their history."""

    def __init__(self, next_version: Callable[[], int], history_limit: int) -> None:
        self._next_version = next_version
        self._objects: dict[Key, Stored] = {}
        # Nothing has happened to these objects before: a watch from any version has missed nothing.
        self.history = History(history_limit)

    def get(self, key: Key) -> Stored | None:
        """The object of this key, None when there is none."""
        return self._objects.get(key)

    def put(self, obj: Object) -> Stored:
        """Keep an object under a new version, in place of the one of its key if there is one."""
        key = key_of(obj)
        before = self._objects.get(key)
        stored = self._versioned(obj)
        self._objects[key] = stored
        self.history.add(Change(stored.version, key, before, stored, stored))
        return stored

    def remove(self, key: Key) -> Stored:
        """Take an object away; returns what watches are told. Raises `KeyError` when there is none."""
        before = self._objects.pop(key)
        told = self._versioned(before.object)
        self.history.add(Change(told.version, key, before, None, told))
        return told

    def now(self) -> list[Stored]:
        """All objects in the order of their keys."""
        return _in_order(self._objects)

    def at(self, version: int) -> list[Stored]:
        """All objects as they were at `version`, which must not be below `history.forgotten`."""
        objects = dict(self._objects)
        for change in reversed(self.history.after(version)):
            if change.before is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.before
        return _in_order(objects)

    def _versioned(self, obj: Object) -> Stored:
        version = self._next_version()
        return Stored(with_metadata(obj, resourceVersion=str(version)), version)


class Store:
    """The tables by name; each begins empty when it is first used."""

    def __init__(self, history_limit: int = HISTORY_LIMIT) -> None:
        self._history_limit = history_limit
        self.version = 1
        """The version of the last write."""
        self._tables: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """The table of this name."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = Table(self._next_version, self._history_limit)
        return found

    def _next_version(self) -> int:
        self.version += 1
        return self.version

    def forget(self, up_to: int | None = None) -> None:
        """Forget the changes up to a version, by default all: old watches and lists get a 410."""
        for table in self._tables.values():
            table.history.forget(self.version if up_to is None else up_to)


def _in_order(objects: Mapping[Key, Stored]) -> list[Stored]:
    """By the path of the key, as etcd orders them: `a-b/x` before `a/x`."""
    return [objects[key] for key in sorted(objects, key="/".join)]
