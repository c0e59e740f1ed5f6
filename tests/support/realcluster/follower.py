"""Follows one resource of a namespace through whatever happens to the servers: a thread, and its watches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.client import HTTPException

from realcluster.client import Client, ExpiredError, Following, Object, Resource

_WATCH_SECONDS = 600
_PAUSE_SECONDS = 0.05

Take = Callable[[Resource, Object], None]
"""Told of each watch event, in order."""


class Follower:
    """Tells of every version that a server tells of, until it is closed.

    A watch that ends is opened again. A server that was restarted does not know what was before: then
    what differs from what is known is told of, as if it had been watched, and what was in between is lost.
    """

    def __init__(self, client: Client, resource: Resource, namespace: str, take: Take) -> None:
        self._client = client
        self._resource = resource
        self._namespace = namespace
        self._take = take
        self._known: dict[str, Object] = {}
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._version = self._list()
        self._watch = self._opened()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End it; nothing is told of after this."""
        self._closed.set()
        with self._lock:
            if self._watch is not None:
                self._watch.close()
        self._thread.join(20)

    # Inside

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._go_on()
            except (OSError, HTTPException):
                self._end_watch()
                self._closed.wait(_PAUSE_SECONDS)

    def _go_on(self) -> None:
        try:
            if self._watch is not None:
                self._read(self._watch)
            self._watch = self._opened()
        except ExpiredError:
            self._end_watch()
            self._version = self._list()

    def _end_watch(self) -> None:
        """Forget the watch, and close its connection: one that is left open fails a test with a warning."""
        with self._lock:
            watch, self._watch = self._watch, None
            if watch is not None:
                watch.close()

    def _opened(self) -> Following | None:
        """Watch from the last version on; None when it is closed."""
        with self._lock:
            if self._closed.is_set():
                return None
            return self._client.follow(self._resource, self._namespace, self._version, _WATCH_SECONDS)

    def _read(self, watch: Following) -> None:
        for event in watch:
            if event["type"] == "ERROR":
                raise ExpiredError
            self._tell(event)
            self._version = event["object"]["metadata"]["resourceVersion"]

    def _list(self) -> str:
        """Tell of what differs from what is known; returns the version of the list."""
        answer = self._client.list(self._resource, self._namespace)
        if answer.status != 200:
            raise ConnectionError(answer)
        version = str(answer.body["metadata"]["resourceVersion"])
        found = {item["metadata"]["name"]: item for item in answer.body["items"]}
        for name, item in found.items():
            before = self._known.get(name)
            if before is None or before["metadata"]["uid"] != item["metadata"]["uid"]:
                self._gone(name, item["metadata"]["resourceVersion"])
                self._tell({"type": "ADDED", "object": item})
            elif before["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._tell({"type": "MODIFIED", "object": item})
        for name in self._known.keys() - found.keys():
            self._gone(name, version)
        return version

    def _gone(self, name: str, version: str) -> None:
        if (last := self._known.get(name)) is not None:
            metadata = {**last["metadata"], "resourceVersion": version}
            self._tell({"type": "DELETED", "object": {**last, "metadata": metadata}})

    def _tell(self, event: Object) -> None:
        name = event["object"]["metadata"]["name"]
        self._known[name] = event["object"]
        if event["type"] == "DELETED":
            del self._known[name]
        self._take(self._resource, event)
