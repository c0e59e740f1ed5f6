"""The Lease as it was written, version by version, and how long nobody renewed it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from realcluster.client import Client, Object, Resource
from realcluster.ledger import Follower

LEASES = Resource("coordination.k8s.io", "v1", "leases")
LEASE = "kruntimes-scheduler.kruntimes.com"


@dataclass(frozen=True)
class Record:
    """One version of the record."""

    spec: Mapping[str, Any]
    version: int
    """The revision of the store that it stands for."""
    heard_at: float
    """Seconds of a clock that only goes on."""

    @property
    def holder(self) -> str:
        """Who holds it; empty for nobody."""
        return str(self.spec["holderIdentity"])

    @property
    def renewed_at(self) -> datetime:
        """When it was written, by the clock of whoever wrote it."""
        return datetime.fromisoformat(self.spec["renewTime"])


class LeaseLog:
    """All records of the Lease of one namespace; made by `lease_log_of`."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.records: list[Record] = []
        self._changed = threading.Condition()
        self._follower = Follower(client, LEASES, namespace, self._take)

    @property
    def last(self) -> Record:
        """The newest record."""
        return self.records[-1]

    @property
    def transitions(self) -> int:
        """How often the Lease changed hands."""
        return int(self.last.spec["leaseTransitions"])

    def wait(self, holds: Callable[[Record], bool], seconds: float = 30) -> Record:
        """The newest record, once something holds of it; fails after `seconds`."""
        with self._changed:
            met = self._changed.wait_for(lambda: bool(self.records) and holds(self.last), seconds)
        assert met, f"still not so after {seconds} s: {self.records[-3:]}"
        return self.last

    def before(self, record: Record) -> Record:
        """The one that it took the place of."""
        return self.records[self.records.index(record) - 1]

    def longest_silence(self, since: float) -> tuple[Record, Record]:
        """The neighbours that were written farthest apart; the second was heard after `since`."""
        pairs = [(one, two) for one, two in pairwise(list(self.records)) if two.heard_at > since]
        return max(pairs, key=lambda pair: seconds_between(*pair))

    def close(self) -> None:
        """End the watch."""
        self._follower.close()

    def _take(self, resource: Resource, event: Object) -> None:
        if event["object"]["metadata"]["name"] == LEASE and event["type"] != "DELETED":
            with self._changed:
                version = int(event["object"]["metadata"]["resourceVersion"])
                self.records.append(Record(event["object"]["spec"], version, time.monotonic()))
                self._changed.notify_all()


def seconds_between(first: Record, second: Record) -> float:
    """From when the first was written until the second was."""
    return (second.renewed_at - first.renewed_at).total_seconds()


@contextmanager
def lease_log_of(client: Client, namespace: str) -> Iterator[LeaseLog]:
    """Follow the Lease until the block ends."""
    log = LeaseLog(client, namespace)
    try:
        yield log
    finally:
        log.close()
