"""The test's own view of a namespace: every version of its Runs and Pods, and what must hold after each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from kruntimes_core.lab.invariants import Invariant, InvariantChecker, ObjectVersion, pod_version, run_version
from realcluster.client import PODS, RUNS, Client, Object, Resource, Watch

# What tests let others do to a Run, and write into it, is theirs to judge.
_RULES = frozenset({Invariant.OVERCOMMITTED, Invariant.BOUND_TWICE, Invariant.POD_NOT_ALIVE})


@dataclass(frozen=True)
class Event:
    """One version of a Run or a Pod, as a watch told it."""

    resource: str
    """Its plural."""
    type: str
    object: Mapping[str, Any]
    heard_at: float = 0.0
    """When the test heard of it: seconds of a clock that only goes on."""

    @property
    def version(self) -> int:
        """The revision of the store that it stands for."""
        return int(self.object["metadata"]["resourceVersion"])

    @property
    def seen(self) -> ObjectVersion:
        """It as the checker takes it."""
        read = pod_version if self.resource == "pods" else run_version
        return read(self.object, gone=self.type == "DELETED")


_WATCH_SECONDS = 600
_PAUSE_SECONDS = 0.05

Take = Callable[[Resource, Object], None]
"""Told of each watch event, in order."""


class ExpiredError(Exception):
    """The server cannot tell any more what happened since a version."""


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
        self._watch: Watch | None = None
        self._open()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End it; nothing is told of after this."""
        self._closed.set()
        with self._lock:
            if self._watch is not None:
                self._watch.end()
        self._thread.join(20)

    # Inside

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._go_on()
            except (OSError, HTTPException):
                self._closed.wait(_PAUSE_SECONDS)
        self._close_watch()

    def _go_on(self) -> None:
        try:
            if self._watch is not None:
                self._read(self._watch)
            self._open()
        except ExpiredError:
            self._close_watch()
            self._version = self._list()

    def _close_watch(self) -> None:
        """Forget the watch, and close its connection: one that is left open fails a test with a warning."""
        with self._lock:
            watch, self._watch = self._watch, None
            if watch is not None:
                watch.close()

    def _open(self) -> None:
        """Watch from the last version on. Raises `ExpiredError`, or `ConnectionError` for another refusal."""
        self._close_watch()
        with self._lock:
            if self._closed.is_set():
                return
            watch = self._client.watch(
                self._resource, self._namespace, seconds=_WATCH_SECONDS, resourceVersion=self._version
            )
            if watch.status == 200:
                self._watch = watch
                return
            watch.close()
        raise ExpiredError if watch.status == 410 else ConnectionError(watch.status)

    def _read(self, watch: Watch) -> None:
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


Statuses = Mapping[str, Mapping[str, Any]]
"""The status of each Run, by name."""


class Ledger:
    """Events of Runs and Pods as they come; made by `ledger_of`.

    The two watches are independent, but their versions are revisions of one store: so all events have one
    order, in which the invariants are checked when both are complete.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self.events: list[Event] = []
        """All events, those of each resource in their order."""
        self._client = client
        self._namespace = namespace
        self._statuses: dict[str, Mapping[str, Any]] = {}
        self._latest: dict[tuple[str, str], int] = {}
        self._newest: dict[str, int] = {}
        self._changed = threading.Condition()
        self._followers = [Follower(client, resource, namespace, self._take) for resource in (RUNS, PODS)]

    @property
    def now(self) -> Statuses:
        """The statuses of the Runs that exist."""
        with self._changed:
            return dict(self._statuses)

    def wait(self, holds: Callable[[Statuses], bool], seconds: float = 30) -> Statuses:
        """The statuses of the Runs that exist, once something holds of them; fails after `seconds`."""
        with self._changed:
            met = self._changed.wait_for(lambda: holds(self._statuses), seconds)
            statuses = dict(self._statuses)
        assert met, f"still not so after {seconds} s: {statuses}"
        return statuses

    def wait_for(self, name: str, holds: Callable[[Mapping[str, Any]], bool], seconds: float = 30) -> Object:
        """The status of a Run, once something holds of it; fails after `seconds`."""
        return dict(self.wait(lambda now: name in now and holds(now[name]), seconds)[name])

    def history(self, name: str) -> list[Object]:
        """The statuses that a Run has had, in order, without repetitions."""
        self.complete()
        found: list[Object] = []
        for event in self.events:
            metadata = event.object["metadata"]
            if event.resource == "runs" and metadata["name"] == name and event.type != "DELETED":
                status = event.object.get("status", {})
                if not found or found[-1] != status:
                    found.append(status)
        return found

    def reach(self, resource: Resource, *objects: Object) -> None:
        """Wait until these versions of objects, or later ones, are here."""
        wanted = [
            (resource.plural, obj["metadata"]["name"], int(obj["metadata"]["resourceVersion"]))
            for obj in objects
        ]
        with self._changed:
            assert self._changed.wait_for(
                lambda: all(self._latest.get((plural, name), 0) >= at for plural, name, at in wanted), 20
            ), f"the ledger's watch is behind {wanted}"

    def complete(self) -> None:
        """Wait until all that the server has is here too."""
        for resource in (RUNS, PODS):
            self.reach(resource, *self._client.list(resource, self._namespace).body["items"])

    def check(self) -> None:
        """Check the invariants after every event so far."""
        self.complete()
        checker = InvariantChecker()
        for event in sorted(self.events, key=lambda event: event.version):
            broken = [one.text for one in checker.take(event.seen) if one.invariant in _RULES]
            assert not broken, f"{'; '.join(broken)}: {event}"

    def take(self, version: int, seconds: float) -> list[Event]:
        """All events up to a version of the store, in its order; they are forgotten here.

        Waits until both watches have told of something later; fails after `seconds`.
        """
        with self._changed:
            plurals = (RUNS.plural, PODS.plural)
            assert self._changed.wait_for(
                lambda: all(self._newest.get(plural, 0) > version for plural in plurals), seconds
            ), f"the ledger's watches are behind version {version}: {self._newest}"
            taken = [event for event in self.events if event.version <= version]
            self.events = [event for event in self.events if event.version > version]
        return sorted(taken, key=lambda event: event.version)

    def close(self) -> None:
        """End the watches."""
        for follower in self._followers:
            follower.close()

    def _take(self, resource: Resource, told: Object) -> None:
        event = Event(resource.plural, told["type"], told["object"], time.monotonic())
        metadata = event.object["metadata"]
        with self._changed:
            self.events.append(event)
            self._latest[resource.plural, metadata["name"]] = event.version
            self._newest[resource.plural] = max(event.version, self._newest.get(resource.plural, 0))
            if resource is RUNS:
                self._statuses[metadata["name"]] = event.object.get("status", {})
                if event.type == "DELETED":
                    del self._statuses[metadata["name"]]
            self._changed.notify_all()


@contextmanager
def ledger_of(client: Client, namespace: str) -> Iterator[Ledger]:
    """Follow a namespace until the block ends, and check then what must have held all the time."""
    ledger = Ledger(client, namespace)
    try:
        yield ledger
        ledger.check()
    finally:
        ledger.close()
