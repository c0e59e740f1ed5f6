"""The test's own view of a namespace: every version of its Runs and Pods, and what must hold after each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from realcluster.client import PODS, RUNS, Client, Object, Resource
from realcluster.ledger import Event, Follower, Invariants

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
        invariants = Invariants()
        for event in sorted(self.events, key=lambda event: event.version):
            invariants.take(event)

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
