"""The three watches of a host: which changes of the server it has seen, and when it sees the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler, resource_event_handlers
from kruntimes_core.engine.events import Event
from kruntimes_core.lab.apiserver.storage import Change
from kruntimes_core.testing.harness.object_tracker import PLURALS, Listing, ObjectTracker


@dataclass(slots=True)
class _Cursor:
    """How far one watch is. It stands on the scheduler's own handlers of events."""

    handler: ResourceEventHandler
    version: int = 0
    """Everything up to this version was fetched."""
    fetched: deque[Change] = field(default_factory=deque)
    held: bool = False
    upto: int = 0
    """While it is held: the version up to which changes still come through."""


class Watches:
    """Changes in order, kind by kind; those of a kind that is held back come later, and in order too."""

    def __init__(self, server: ObjectTracker, handle: Callable[[Event], None]) -> None:
        """handle: takes each event."""
        self._server = server
        handlers = resource_event_handlers(server.decoder, None, handle)
        by_plural = {handler.resource.plural: handler for handler in handlers}
        self._cursors = {kind: _Cursor(by_plural[plural]) for kind, plural in PLURALS.items()}

    def hold(self, *kinds: str) -> None:
        """Let no change of these kinds through from now on."""
        for kind in kinds:
            self._cursors[kind].held = True
            self._cursors[kind].upto = self._server.api.store.version

    def resume(self, *kinds: str) -> None:
        """Let the changes come again, those that were held back first."""
        for kind in kinds:
            self._cursors[kind].held = False

    def let_through(self, kind: str, upto: int) -> None:
        """While a kind is held, let changes through up to a version."""
        self._cursors[kind].upto = max(self._cursors[kind].upto, upto)

    def relist(self, kind: str, listing: Listing) -> None:
        """Hand on a list, and forget what was not seen yet."""
        self.skip(kind)
        handler = self._cursors[kind].handler
        found = (handler.decode(obj) for obj in listing.objects)
        handler.on_replace(tuple(one for one in found if one is not None), listing.version)

    def skip(self, kind: str) -> None:
        """Forget what was not seen yet, as after a list."""
        cursor = self._cursors[kind]
        cursor.fetched.clear()
        cursor.version = cursor.upto = self._server.api.store.version

    def step(self) -> bool:
        """Hand on the next change that comes through; False when there is none."""
        return any(self._next(kind, cursor) for kind, cursor in self._cursors.items())

    def _next(self, kind: str, cursor: _Cursor) -> bool:
        if not cursor.fetched:
            cursor.fetched.extend(self._server.changes(kind, cursor.version))
            cursor.version = self._server.api.store.version
        if not cursor.fetched or (cursor.held and cursor.fetched[0].version > cursor.upto):
            return False
        change = cursor.fetched.popleft()
        obj = self._server.told(change)
        if change.after is None:
            cursor.handler.on_delete(obj)
        else:
            cursor.handler.on_update(obj)
        return True
