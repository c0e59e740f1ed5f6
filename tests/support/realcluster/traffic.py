"""Runs that come and go while something else happens: a thread makes them, and ends each that is placed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException

from realcluster.client import RUNS, Client, KeptClient
from realcluster.ledger import Ledger, Statuses
from realcluster.workload import in_phase, now_text, run_object

_ROUND_SECONDS = 0.05
_SECONDS = 40.0
"""For what is waited for at most: longer than any outage that a test makes."""


class Traffic:
    """Keeps some Runs open; made by `traffic_in`. A server that is away is asked again."""

    def __init__(self, client: KeptClient, namespace: str, ledger: Ledger, width: int) -> None:
        """width: Runs that are open at a time. ledger: tells which are placed."""
        self._client = client
        self._namespace = namespace
        self._ledger = ledger
        self._width = width
        self._made: list[str] = []
        self._unsure: str | None = None
        """One of which nobody knows yet whether it was made."""
        self._ended: set[str] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def passes(self, count: int) -> None:
        """Wait until so many more have ended."""
        wanted = len(self._ended) + count
        self._ledger.wait(lambda now: len(in_phase(now, "Succeeded")) >= wanted, _SECONDS)

    def next_bind(self, since: int) -> float:
        """When the first bind after a version of the store was heard, once there is one."""
        self._ledger.wait(lambda _: self._bound_after(since) is not None, _SECONDS)
        found = self._bound_after(since)
        assert found is not None
        return found

    def settle(self) -> int:
        """Make no more, and wait until all have ended: none is lost. Returns how many there were."""
        with self._lock:
            self._width = 0
        self._ledger.wait(lambda now: self._all_ended(now), _SECONDS)
        return len(self._made)

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._thread.join(_SECONDS)

    # Inside

    def _all_ended(self, now: Statuses) -> bool:
        return self._unsure is None and in_phase(now, "Succeeded") == sorted(self._made) == sorted(now)

    def _run(self) -> None:
        while not self._stopped.wait(_ROUND_SECONDS):
            try:
                with self._lock:
                    self._round(self._ledger.now)
            except (OSError, HTTPException):
                self._client.close()

    def _round(self, now: Statuses) -> None:
        """One more Run, if there is a place for it, and an end for all that are placed."""
        if self._unsure is not None or len(self._made) - len(self._ended) < self._width:
            self._make(self._unsure or f"t-{len(self._made):04}")
        for name in in_phase(now, "Scheduled"):
            if name not in self._ended:
                self._end(name)

    def _make(self, name: str) -> None:
        self._unsure = name
        # 409: a request without an answer had arrived.
        if self._client.create(RUNS, run_object(name), self._namespace).status in (201, 409):
            self._made.append(name)
            self._unsure = None

    def _end(self, name: str) -> None:
        status = {"phase": "Succeeded", "completionTime": now_text()}
        answer = self._client.patch(RUNS, name, {"status": status}, self._namespace, "status")
        if answer.status == 200:
            self._ended.add(name)

    def _bound_after(self, version: int) -> float | None:
        return next(
            (
                event.heard_at
                for event in list(self._ledger.events)
                if event.resource == "runs"
                and event.version > version
                and event.object.get("status", {}).get("phase") == "Scheduled"
            ),
            None,
        )


@contextmanager
def traffic_in(client: Client, namespace: str, ledger: Ledger, width: int = 8) -> Iterator[Traffic]:
    """Runs in a namespace until the block ends."""
    with closing(KeptClient(client)) as kept:
        traffic = Traffic(kept, namespace, ledger, width)
        try:
            yield traffic
        finally:
            traffic.stop()
