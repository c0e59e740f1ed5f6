"""Watches: what happened to the selected objects since a version, and then what happens.

A watch does not wait by itself: it is asked for what is new, and its listener is called when there may be
something. So it works beside an event loop as well as in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.history import Change, Stored
from kruntimes_core.lab.apiserver.lists import Selection
from kruntimes_core.lab.apiserver.status import ApiError, expired
from kruntimes_core.lab.apiserver.store import Table


@dataclass(frozen=True, slots=True)
class Event:
    """`ADDED`, `MODIFIED` or `DELETED`, with the object as stored at `version`."""

    type: str
    stored: Stored
    version: int


class Watch:
    """One watch. Close it when nobody reads it any more."""

    def __init__(
        self,
        table: Table,
        selection: Selection,
        since: int | None,
        current: Callable[[], int],
        wake: Callable[[], None],
    ) -> None:
        """since: tell what is later than this version; None: tell first what is there now, as added.

        current: the version of the server's last write. wake: called when there may be something new.
        Raises `ApiError` (410) when `since` is out of reach.
        """
        self._current = current
        self._table = table
        self._selection = selection
        self._wake = wake
        self.version = current() if since is None else since
        """Everything up to this version has been told."""
        self._initial = list(self._now()) if since is None else []
        if self.version < table.history.forgotten:
            raise self._lost()
        table.history.listeners.add(wake)

    def close(self) -> None:
        """Stop listening."""
        self._table.history.listeners.discard(self._wake)

    def pending(self) -> list[Event]:
        """What is new since the last call, in order. Raises `ApiError` (410) when some of it is lost."""
        if self._table.history.missed(self.version):
            raise self._lost()
        events, self._initial = self._initial, []
        for change in self._table.history.after(self.version):
            self.version = change.version
            event = self._event(change)
            if event is not None:
                events.append(event)
        # What happened to other kinds has been told too: it was nothing.
        self.version = max(self.version, self._current())
        return events

    def _lost(self) -> ApiError:
        return expired(f"too old resource version: {self.version} ({self._table.history.forgotten})")

    def _now(self) -> Iterator[Event]:
        for stored in self._table.now():
            if self._selection.matches(stored.object):
                yield Event("ADDED", stored, stored.version)

    def _event(self, change: Change) -> Event | None:
        """What a change means to this watch: an object may come into its selection, or leave it."""
        was = change.before is not None and self._selection.matches(change.before.object)
        now = change.after is not None and self._selection.matches(change.after.object)
        if now and change.after is not None:
            return Event("MODIFIED" if was else "ADDED", change.after, change.version)
        if not was or change.before is None:
            return None
        told = change.told if change.after is None else _left(change.before, change.version)
        return Event("DELETED", told, change.version)


def _left(before: Stored, version: int) -> Stored:
    """An object that left the selection: as it was when it still belonged, at the version of the change."""
    metadata = {**before.object["metadata"], "resourceVersion": str(version)}
    return Stored({**before.object, "metadata": metadata}, version)
