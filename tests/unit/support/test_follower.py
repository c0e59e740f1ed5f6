"""The follower of the tests on a real API server tells of what it missed while the server was away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, cast

from realcluster.client import RUNS, Answer, Client, Object, Resource
from realcluster.client import Watch as RealWatch
from realcluster.ledger import Follower


def run(name: str, version: int, uid: str = "") -> Object:
    return {"metadata": {"name": name, "uid": uid or name, "resourceVersion": str(version)}}


class Watch:
    """Tells of some events, and ends; or stays open."""

    def __init__(self, *events: Object, open_ended: bool = False, status: int = 200) -> None:
        self.status = status
        self._events = events
        self._closed = threading.Event()
        if not open_ended:
            self._closed.set()

    def __iter__(self) -> Iterator[Object]:
        yield from self._events
        assert self._closed.wait(20)

    def end(self) -> None:
        self._closed.set()

    close = end


class Server:
    """Plays lists and watches in their order."""

    def __init__(self, lists: list[list[Object]], watches: list[Watch | Exception]) -> None:
        self._lists = lists
        self._watches = watches
        self.asked_for: list[str] = []

    def list(self, resource: Resource, namespace: str) -> Answer:
        items = self._lists.pop(0)
        version = max((int(one["metadata"]["resourceVersion"]) for one in items), default=0)
        return Answer(200, {"metadata": {"resourceVersion": str(version + 1)}, "items": items})

    def watch(self, resource: Resource, namespace: str, *, seconds: int, **query: str) -> RealWatch:
        self.asked_for.append(query["resourceVersion"])
        watch = self._watches.pop(0)
        if isinstance(watch, Exception):
            raise watch
        return cast("RealWatch", watch)


def told(server: Server, count: int) -> list[tuple[str, str, int]]:
    """The first events: type, name, version."""
    events: list[dict[str, Any]] = []
    enough = threading.Event()

    def take(resource: Resource, event: Object) -> None:
        events.append(event)
        if len(events) == count:
            enough.set()

    follower = Follower(cast("Client", server), RUNS, "team-a", take)
    assert enough.wait(20)
    follower.close()
    return [
        (one["type"], one["object"]["metadata"]["name"], int(one["object"]["metadata"]["resourceVersion"]))
        for one in events
    ]


def test_a_watch_that_ended_goes_on_where_it_ended() -> None:
    more = {"type": "MODIFIED", "object": run("a", 5)}
    last = {"type": "DELETED", "object": run("a", 6)}
    server = Server([[run("a", 1)]], [Watch(more), ConnectionError(), Watch(last, open_ended=True)])
    assert told(server, 3) == [("ADDED", "a", 1), ("MODIFIED", "a", 5), ("DELETED", "a", 6)]
    assert server.asked_for == ["2", "5", "5"]


def test_what_a_server_cannot_tell_any_more_is_listed_and_compared() -> None:
    before = [run("same", 1), run("changed", 2), run("gone", 3), run("anew", 4, "first")]
    after = [run("same", 1), run("changed", 12), run("anew", 14, "second"), run("new", 15)]
    server = Server([before, after], [Watch(), Watch(status=410), Watch(open_ended=True)])
    assert told(server, 9)[4:] == [
        ("MODIFIED", "changed", 12),
        ("DELETED", "anew", 14),
        ("ADDED", "anew", 14),
        ("ADDED", "new", 15),
        ("DELETED", "gone", 16),
    ]
    assert server.asked_for == ["5", "5", "16"]
