"""One load: the Runs come, and are followed until the last one is placed or nothing more happens."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.bench import objects
from kruntimes_core.lab.bench.live.api import GONE, RefusedError, beside
from kruntimes_core.lab.bench.live.cluster import LoadedCluster
from kruntimes_core.lab.bench.live.load import Cell, cell
from kruntimes_core.lab.bench.live.scheduler import Usage
from kruntimes_core.lab.bench.objects import ROLE_LABEL
from kruntimes_core.lab.invariants import ENDED, RunVersion

ROLE = "load"
Measure = Callable[[], Usage | None]
"""Gives what the scheduler has used so far; None where that is unknown."""
_LULL_SECONDS = 1.0
"""Without a placement, after which the last one may have been the last of all."""
_LATENESS_SECONDS = 0.05


@dataclass(slots=True)
class RunTimes:
    """When one Run was seen; moments in seconds of a clock that only goes on."""

    created_at: float
    placed_at: float | None = None
    versions: list[str] = field(default_factory=list)
    """Of every event about it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How things stood at one moment of a round."""

    at: float
    scheduler: Usage | None
    """None where that is unknown."""
    bench_seconds: float
    """Processor time of the bench."""


class LoadRound:
    """The Runs of one round. `create` and `release` come in the order of the mode, then `follow`.

    What is placed is executed as runtimed does it: it runs for a while, and succeeds.
    """

    def __init__(
        self, cluster: LoadedCluster, group: asyncio.TaskGroup, number: int, patience_seconds: float
    ) -> None:
        """group: executes Runs. number: of the round. patience_seconds: how long nothing may be placed."""
        self.runs: dict[tuple[str, str], RunTimes] = {}
        self.beside_versions: list[str] = []
        """Versions of Runs of other roles, from the release on."""
        self.placed = 0
        self.expected: int | None = None
        """How many Runs there will be; None until they come."""
        self.released: Mark | None = None
        """When the scheduler could begin."""
        self.first: Mark | None = None
        """When the first Run was placed."""
        self.last: Mark | None = None
        """When the last one was placed, or a moment after it where some were not."""
        self._cluster = cluster
        self._number = number
        self._patience_seconds = patience_seconds
        self._measure: Measure = lambda: None
        self._group = group
        self._executing: set[asyncio.Task[None]] = set()

    async def create(self) -> None:
        """Let the Runs come; returns when all are seen."""
        arrivals = self._cluster.load.arrivals(self._number)
        self.expected = len(arrivals)
        await create_load(self._cluster, self._number, arrivals)
        await self._cluster.watch.until(lambda: len(self.runs) >= len(arrivals))

    def release(self, measure: Measure) -> None:
        """From now on the scheduler can place."""
        self._measure = measure
        self.released = self._mark()

    async def follow(self) -> None:
        """Follow the round to its end."""
        while not self.done:
            before, lull = self.placed, min(_LULL_SECONDS, self._patience_seconds)
            if await self._more_than(before, lull):
                continue
            # This may have been the last one: what is used while nothing comes is of no placement.
            self.last = self._mark()
            if not await self._more_than(before, self._patience_seconds - lull):
                break
        self.last = self.last or self._mark()

    @property
    def done(self) -> bool:
        """Whether every Run was placed."""
        return self.expected is not None and self.placed >= self.expected

    def heard(self, run: RunVersion, at: float) -> None:
        """See `RunListener`."""
        if run.labels.get(ROLE_LABEL) != ROLE:
            if self.released is not None:
                self.beside_versions.append(run.version)
            return
        times = self.runs.setdefault((run.namespace, run.name), RunTimes(at))
        times.versions.append(run.version)
        # One that is quick may end before its placement is seen: a watch that was opened again skips.
        if times.placed_at is None and (run.active or run.phase in ENDED) and run.pod_uid:
            times.placed_at = at
            self._place(run)

    def stop(self) -> None:
        """Leave what runs as it is."""
        for task in self._executing:
            task.cancel()

    def _place(self, run: RunVersion) -> None:
        self.placed += 1
        if self.first is None:
            self.first = self._mark()
        if self.done:
            self.last = self._mark()
        seconds = self._cluster.load.draw_seconds(run.name)
        if seconds is not None:
            task = self._group.create_task(self._execute(run, seconds))
            self._executing.add(task)
            task.add_done_callback(self._executing.discard)

    async def _execute(self, run: RunVersion, seconds: float) -> None:
        api = self._cluster.pods_api
        try:
            await api.patch_status(RUNS, run.namespace, run.name, objects.running())
            await asyncio.sleep(seconds)
            await api.patch_status(RUNS, run.namespace, run.name, objects.ended())
        except RefusedError as error:
            # A Run that was deleted while it ran is a violation, and reported as one.
            if error.code != GONE:
                raise

    async def _more_than(self, placed: int, seconds: float) -> bool:
        return await self._cluster.watch.until(lambda: self.placed > placed, seconds)

    def _mark(self) -> Mark:
        return Mark(time.monotonic(), self._measure(), time.process_time())


@asynccontextmanager
async def loading(cluster: LoadedCluster, number: int, patience_seconds: float) -> AsyncIterator[LoadRound]:
    """A round, which hears of its Runs until the block ends; they are taken away then."""
    async with beside(()) as group:
        round_ = LoadRound(cluster, group, number, patience_seconds)
        cluster.watch.listeners.append(round_.heard)
        try:
            yield round_
        finally:
            cluster.watch.listeners.remove(round_.heard)
            round_.stop()
    await cluster.remove_runs(ROLE)


async def create_load(cluster: LoadedCluster, round_number: int, arrivals: list[float]) -> None:
    """Create a Run at each of these moments, in seconds from now, whether or not those before were placed.

    Returns when all are created.
    """
    loop, load = asyncio.get_running_loop(), cluster.load
    began, there = loop.time(), Counter[Cell]()
    async with beside(()) as group:
        for number, moment in enumerate(arrivals):
            if began + moment > loop.time():
                await asyncio.sleep(began + moment - loop.time())
            where = cell(load, number % load.pods)
            # Cohorts are of one namespace and Runtime: no Pod could be beside those of another one.
            place = f"{where.namespace}-{where.runtime}"
            cohort = f"{place}-{there[where] % load.cohorts}" if load.cohorts else None
            there[where] += 1
            name = f"run-{round_number}-{number:06}"
            group.create_task(cluster.add_run(where, name, ROLE, cohort=cohort))


class Lateness:
    """By how much the bench's loop was late at most: what looks late sees late."""

    def __init__(self) -> None:
        self._most = 0.0

    async def watch(self) -> None:
        """Look again and again. Never returns."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LATENESS_SECONDS
            await asyncio.sleep(_LATENESS_SECONDS)
            self._most = max(self._most, loop.time() - due)

    def take(self) -> float:
        """Seconds of the worst since it was last asked."""
        most, self._most = self._most, 0.0
        return most
