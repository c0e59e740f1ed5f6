"""The three watches of a host: which events of the server it has seen, and when it sees the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kruntimes_core.engine import events
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.harness.object_tracker import (
    PODS,
    RUNS,
    Listing,
    ObjectTracker,
    WatchEvent,
)


@dataclass(slots=True)
class _Cursor:
    seen: int = 0
    held: bool = False
    upto: int = 0
    """While it is held: how many events still come through."""


class Watches:
    """Events in order, kind by kind; a kind that is held back comes later, and in order too."""

    def __init__(self, server: ObjectTracker) -> None:
        self._server = server
        self._cursors = {kind: _Cursor() for kind in server.events}

    def hold(self, *kinds: str) -> None:
        """Let no event of these kinds through."""
        for kind in kinds:
            self._cursors[kind].held = True
            self._cursors[kind].upto = len(self._server.events[kind])

    def resume(self, *kinds: str) -> None:
        """Let the events come again, those that were held back first."""
        for kind in kinds:
            self._cursors[kind].held = False

    def let_through(self, kind: str, upto: int) -> None:
        """While a kind is held, let events through until so many of it were seen."""
        self._cursors[kind].upto = max(self._cursors[kind].upto, upto)

    def skip(self, kind: str) -> None:
        """Forget what was not seen yet, as after a list."""
        self._cursors[kind].seen = self._cursors[kind].upto = len(self._server.events[kind])

    def next(self) -> events.Event | None:
        """The next event that comes through."""
        for kind, cursor in self._cursors.items():
            log = self._server.events[kind]
            end = cursor.upto if cursor.held else len(log)
            while cursor.seen < end:
                cursor.seen += 1
                event = decoded(self._server.decoder, kind, log[cursor.seen - 1])
                if event is not None:
                    return event
        return None


def decoded(decoder: Decoder, kind: str, event: WatchEvent) -> events.Event | None:
    """A watch event as the engine takes it; None for somebody else's Pod."""
    obj = event.object
    if event.type == "DELETED":
        return _gone(kind, obj["metadata"])
    if kind == RUNS:
        return events.RunObserved(decoder.run(obj))
    if kind == PODS:
        pod = decoder.pod(obj)
        return events.PodObserved(pod) if pod is not None else _gone(kind, obj["metadata"])
    return events.WorkspaceObserved(decoder.workspace(obj))


def listed(decoder: Decoder, kind: str, listing: Listing) -> events.Event:
    """A list as the engine takes it."""
    if kind == RUNS:
        runs = tuple(decoder.run(obj) for obj in listing.objects)
        return events.RunsListed(observations=runs, version=listing.version)
    if kind == PODS:
        pods = tuple(pod for obj in listing.objects if (pod := decoder.pod(obj)) is not None)
        return events.PodsListed(observations=pods, version=listing.version)
    workspaces = tuple(decoder.workspace(obj) for obj in listing.objects)
    return events.WorkspacesListed(observations=workspaces, version=listing.version)


def _gone(kind: str, metadata: Mapping[str, str]) -> events.Event:
    what = {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "version": metadata["resourceVersion"],
    }
    if kind == RUNS:
        return events.RunGone(**what)
    return events.PodGone(**what) if kind == PODS else events.WorkspaceGone(**what)
