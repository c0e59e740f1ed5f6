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
from kruntimes_core.lab.bench.live.objects import BENCH_LABEL, COHORT_LABEL
from kruntimes_core.lab.invariants import (
    InvariantChecker,
    ObjectVersion,
    PodVersion,
    RunVersion,
    Violation,
    pod_version,
    run_version,
)

Heard = Callable[[RunVersion, float], None]
"""Told of each version of a Run, and when it was seen (seconds of a clock that only goes on)."""


class BenchWatch:
    """Two watches over all namespaces, of what bears the bench's label and nothing else."""

    def __init__(self, transport: Transport, clock: Clock, random: Random, log: Log, bench: str) -> None:
        self.history: list[ObjectVersion] = []
        """Everything seen; those of one resource in their order."""
        self.runs: dict[tuple[str, str], RunVersion] = {}
        """The newest version of each Run that exists."""
        self.pods: dict[tuple[str, str], PodVersion] = {}
        self.listeners: list[Heard] = []
        self.cleared: set[str] = set()
        """UIDs of what the bench deleted."""
        self.gaps = 0
        """How often a watch was interrupted so that versions may have been missed."""
        self._clearing = False
        self._heard_at = 0.0
        self._stirred = asyncio.Event()
        self._listed: set[str] = set()
        selector = (("labelSelector", f"{BENCH_LABEL}={bench}"),)
        self._reflectors = [
            Reflector(
                transport=transport,
                handler=self._event_handler(replace(resource, selector=selector), read),
                clock=clock,
                random=random,
                log=log,
                changed=self._stirred.set,
            )
            for resource, read in (
                (RUNS, run_version),
                (PODS, pod_version),
            )
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
                    self._stirred.clear()
                    await self._stirred.wait()
        except TimeoutError:
            return False
        return True

    @contextmanager
    def clearing(self) -> Iterator[None]:
        """What goes while the block lasts was deleted by the bench itself."""
        self._clearing = True
        try:
            yield
        finally:
            self._clearing = False

    async def quiet(self, seconds: float, longest: float) -> bool:
        """Wait until no Run has changed for `seconds`; False if that does not come within `longest`."""
        given_up_at = time.monotonic() + longest
        while time.monotonic() < given_up_at:
            left = self._heard_at + seconds - time.monotonic()
            if left <= 0:
                return True
            await asyncio.sleep(left)
        return False

    def violations(self, own: Container[str]) -> list[Violation]:
        """What was broken, in the order of the store. own: resourceVersions that the bench made."""
        checker = InvariantChecker(cohort_label=COHORT_LABEL)
        found: list[Violation] = []
        for seen in sorted(self.history, key=lambda seen: int(seen.version)):
            ours = seen.version in own or (seen.gone and seen.uid in self.cleared)
            found += checker.take(seen, judged=not ours)
        return found

    # Inside

    def _event_handler(
        self, resource: ApiResource, read: Callable[[Any], ObjectVersion]
    ) -> ResourceEventHandler:
        """Each observation as a call that takes it in."""

        def observe(seen: ObjectVersion) -> Any:
            return partial(self._take, seen)

        def gone(*, namespace: str, name: str, uid: str, version: str) -> Any:
            return partial(self._gone, resource, namespace, name, uid, version)

        def listed(*, observations: tuple[ObjectVersion, ...], **_: object) -> Any:
            return partial(self._all, resource, observations)

        return ResourceEventHandler(
            resource=resource,
            namespace=None,
            decode=read,
            observe=observe,
            gone=gone,
            listed=listed,
            handle=_take_in,
        )

    def _known(self, resource: ApiResource) -> dict[tuple[str, str], Any]:
        return self.runs if resource.plural == RUNS.plural else self.pods

    def _take(self, seen: ObjectVersion) -> None:
        at, key = time.monotonic(), (seen.namespace, seen.name)
        self.history.append(seen)
        if isinstance(seen, PodVersion):
            self.pods[key] = seen
        elif isinstance(seen, RunVersion):
            self._heard_at = at
            self.runs[key] = seen
            for listener in self.listeners:
                listener(seen, at)
        self._stirred.set()

    def _gone(self, resource: ApiResource, namespace: str, name: str, uid: str, version: str) -> None:
        last = self._known(resource).pop((namespace, name), None)
        if last is None or last.uid != uid:
            return
        if self._clearing:
            self.cleared.add(uid)
        end = replace(last, version=version, gone=True)
        self.history.append(end)
        if isinstance(end, RunVersion):
            for listener in self.listeners:
                listener(end, time.monotonic())
        self._stirred.set()

    def _all(self, resource: ApiResource, observations: tuple[ObjectVersion, ...]) -> None:
        """A whole list. Only the first one comes before a watch; any other one may hide versions."""
        known = self._known(resource)
        self.gaps += resource.plural in self._listed
        self._listed.add(resource.plural)
        for key in known.keys() - {(seen.namespace, seen.name) for seen in observations}:
            self._gone(resource, *key, known[key].uid, known[key].version)
        for seen in observations:
            last = known.get((seen.namespace, seen.name))
            if last is None or last.version != seen.version:
                self._take(seen)


def _take_in(take: Any) -> None:
    """Every event of these handlers is a call that takes it in."""
    take()
