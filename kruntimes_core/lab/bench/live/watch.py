"""The bench's own view: every version of its Runs and Pods, as its own watches show them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, RUNS, ApiResource
from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler
from kruntimes_core.cluster.informers.reflector import Reflector
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.bench.objects import BENCH_LABEL, COHORT_LABEL
from kruntimes_core.lab.invariants import (
    READERS,
    InvariantChecker,
    ObjectVersion,
    PodVersion,
    RunVersion,
    Violation,
)

RunListener = Callable[[RunVersion, float], None]
"""Called with each version of a Run, and when it was seen (seconds of a clock that only goes on)."""
_Known = dict[tuple[str, str], Any]


class BenchWatch:
    """Two watches over all namespaces, only of objects with the bench's label."""

    def __init__(self, transport: Transport, clock: Clock, random: Random, log: Log, bench: str) -> None:
        self.history: list[ObjectVersion] = []
        """Everything seen; those of one resource in their order."""
        self.runs: dict[tuple[str, str], RunVersion] = {}
        """The newest version of each Run that exists, by namespace and name."""
        self.pods: dict[tuple[str, str], PodVersion] = {}
        self.listeners: list[RunListener] = []
        self._cleared: set[str] = set()
        """UIDs of what the bench deleted."""
        self._clearing = False
        self._lists = 0
        self._heard_at = 0.0
        self._changed = asyncio.Event()
        selector = (("labelSelector", f"{BENCH_LABEL}={bench}"),)
        self._reflectors = [
            Reflector(
                transport=transport,
                handler=self._event_handler(replace(resource, selector=selector), known),
                clock=clock,
                random=random,
                log=log,
                changed=self._changed.set,
            )
            for resource, known in ((RUNS, self.runs), (PODS, self.pods))
        ]

    def tasks(self) -> list[Coroutine[None, None, None]]:
        """What runs as long as it observes."""
        return [reflector.run() for reflector in self._reflectors]

    async def started(self) -> None:
        """Wait until both watches are open."""
        await self.until(lambda: all(reflector.following for reflector in self._reflectors))

    async def until(self, holds: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until something holds, asked at each event; False after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def quiet(self, seconds: float, longest: float) -> bool:
        """Wait until no Run has changed for `seconds`; False if that does not come within `longest`."""
        given_up_at = time.monotonic() + longest
        while time.monotonic() < given_up_at:
            left = self._heard_at + seconds - time.monotonic()
            if left <= 0:
                return True
            await asyncio.sleep(left)
        return False

    @contextmanager
    def clearing(self) -> Iterator[None]:
        """What goes while the block lasts was deleted by the bench itself."""
        self._clearing = True
        try:
            yield
        finally:
            self._clearing = False

    @property
    def gaps(self) -> int:
        """How often a watch was interrupted so that versions may have been missed: it was listed again."""
        return max(self._lists - len(self._reflectors), 0)

    def violations(self, own: Container[str]) -> list[Violation]:
        """What was broken, in the order of the store. own: resourceVersions that the bench made."""
        checker = InvariantChecker(cohort_label=COHORT_LABEL)
        found: list[Violation] = []
        for seen in sorted(self.history, key=lambda seen: int(seen.version)):
            ours = seen.version in own or (seen.gone and seen.uid in self._cleared)
            found += checker.take(seen, judged=not ours)
        return found

    # What the watches say

    def _event_handler(self, resource: ApiResource, known: _Known) -> ResourceEventHandler:
        return ResourceEventHandler(
            resource=resource,
            namespace=None,
            decode=READERS[resource.plural],
            observe=lambda seen: seen,
            gone=partial(ObjectVersion, gone=True),
            listed=lambda *, observations, **_: observations,
            handle=partial(self._take, known),
        )

    def _take(self, known: _Known, seen: ObjectVersion | tuple[ObjectVersion, ...]) -> None:
        """A version, an end, or a whole list."""
        if isinstance(seen, tuple):
            self._replace(known, seen)
        elif seen.gone:
            last = known.pop((seen.namespace, seen.name), None)
            if last is not None and last.uid == seen.uid:
                if self._clearing:
                    self._cleared.add(seen.uid)
                self._note(replace(last, version=seen.version, gone=True))
        else:
            known[seen.namespace, seen.name] = seen
            self._note(seen)

    def _note(self, seen: ObjectVersion) -> None:
        at = time.monotonic()
        self.history.append(seen)
        if isinstance(seen, RunVersion):
            if not seen.gone:
                self._heard_at = at
            for listener in self.listeners:
                listener(seen, at)
        self._changed.set()

    def _replace(self, known: _Known, listed: tuple[ObjectVersion, ...]) -> None:
        """A whole list. Only the first one comes before a watch; any other one may hide versions."""
        self._lists += 1
        for key in known.keys() - {(seen.namespace, seen.name) for seen in listed}:
            self._take(known, replace(known[key], gone=True))
        for seen in listed:
            last = known.get((seen.namespace, seen.name))
            if last is None or last.version != seen.version:
                self._take(known, seen)
