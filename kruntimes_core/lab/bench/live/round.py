"""One load: the Runs come, and are followed until the last one is placed or nothing more happens."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.bench.live import objects
from kruntimes_core.lab.bench.live.api import RefusedError, beside
from kruntimes_core.lab.bench.live.cluster import LoadedCluster, remove_runs
from kruntimes_core.lab.bench.live.load import BenchLoad, Cell, Mode, cell
from kruntimes_core.lab.bench.live.objects import ROLE_LABEL
from kruntimes_core.lab.bench.live.scheduler import Usage
from kruntimes_core.lab.invariants import ENDED, RunVersion

ROLE = "load"


async def create_load(site: LoadedCluster, round_number: int, arrivals: list[float]) -> None:
    """Create a Run at each of these moments, in seconds from now; returns when all are created."""
    loop = asyncio.get_running_loop()
    began, there = loop.time(), Counter[Cell]()
    async with beside(()) as group:
        for number, moment in enumerate(arrivals):
            if began + moment > loop.time():
                await asyncio.sleep(began + moment - loop.time())
            where = cell(site.load, number % site.load.pods)
            cohort = _cohort(site.load, where, there[where])
            there[where] += 1
            group.create_task(site.add_run(where, f"run-{round_number}-{number:06}", ROLE, cohort=cohort))


def _cohort(load: BenchLoad, where: Cell, before: int) -> str | None:
    """Cohorts are of one namespace and Runtime: no Pod could be beside those of another one.

    before: how many Runs came there before.
    """
    return f"{where.namespace}-{where.runtime}-{before % load.cohorts}" if load.cohorts else None


_GONE = 404


class Runtimed:
    """Executes the Runs that it is given."""

    def __init__(self, site: LoadedCluster, group: asyncio.TaskGroup) -> None:
        """group: is failed by what fails."""
        self._site = site
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, run: RunVersion) -> None:
        """A Run was seen on its Pod. One that is to stay there just stays."""
        seconds = self._site.load.draw_seconds(run.name)
        if seconds is not None:
            task = self._group.create_task(self._execute(run, seconds))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Leave what runs as it is."""
        for task in self._tasks:
            task.cancel()

    async def _execute(self, run: RunVersion, seconds: float) -> None:
        try:
            await self._site.pods_api.patch_status(RUNS, run.namespace, run.name, objects.running())
            await asyncio.sleep(seconds)
            await self._site.pods_api.patch_status(RUNS, run.namespace, run.name, objects.ended())
        except RefusedError as error:
            # Whoever deletes a Run that runs is found by the judge.
            if error.code != _GONE:
                raise


_PERIOD_SECONDS = 0.05


class Lateness:
    """Notes by how much the bench's loop was late at most."""

    def __init__(self) -> None:
        self._most = 0.0

    async def watch(self) -> None:
        """Look again and again. Never returns."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _PERIOD_SECONDS
            await asyncio.sleep(_PERIOD_SECONDS)
            self._most = max(self._most, loop.time() - due)

    def take(self) -> float:
        """Seconds of the worst since it was last asked."""
        most, self._most = self._most, 0.0
        return most


Key = tuple[str, str]
"""Namespace and name of a Run."""


@dataclass(slots=True)
class Times:
    """One Run; moments in seconds of a clock that only goes on."""

    created_at: float | None = None
    placed_at: float | None = None
    ended_at: float | None = None
    versions: list[str] = field(default_factory=list)
    """Of every event about it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How things stood at one moment of a round."""

    at: float
    scheduler: Usage | None
    """None where nobody knows."""
    bench_seconds: float
    """Processor time of the bench."""


class Book:
    """Takes note of the Runs of one role."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._measure: Callable[[], Usage | None] = lambda: None
        self.runs: dict[Key, Times] = {}
        self.beside: list[str] = []
        """Versions of Runs of other roles, from the release on."""
        self.placed = 0
        self.expected: int | None = None
        """How many Runs there will be; None while nobody knows."""
        self.released: Mark | None = None
        """When the scheduler could begin."""
        self.first: Mark | None = None
        """When the first Run was placed, and the last one, or a moment after it where some were not."""
        self.last: Mark | None = None
        self.on_placed: Callable[[RunVersion], None] = lambda run: None

    def release(self, measure: Callable[[], Usage | None]) -> None:
        """From now on the scheduler can place. measure: gives what it has used so far."""
        self._measure = measure
        self.released = self._mark()

    def pause(self) -> None:
        """No Run has been placed for a while, and none may be any more."""
        self.last = self._mark()

    def finish(self) -> None:
        """The round is over, whether or not every Run was placed."""
        self.last = self.last or self._mark()

    @property
    def done(self) -> bool:
        """Whether every Run was placed."""
        return self.expected is not None and self.placed >= self.expected

    def heard(self, run: RunVersion, at: float) -> None:
        """See `observing.observer.Heard`."""
        if run.labels.get(ROLE_LABEL) != self._role:
            if self.released is not None:
                self.beside.append(run.version)
            return
        times = self.runs.setdefault((run.namespace, run.name), Times())
        times.versions.append(run.version)
        if times.created_at is None:
            times.created_at = at
        # One that is quick may end before its placement is seen: a watch that was opened again skips.
        if times.placed_at is None and (run.active or run.phase in ENDED) and run.pod_uid:
            times.placed_at = at
            self._placed(run)
        if times.ended_at is None and (run.gone or run.phase in ENDED):
            times.ended_at = at

    def _placed(self, run: RunVersion) -> None:
        self.placed += 1
        if self.first is None:
            self.first = self._mark()
        if self.done:
            self.last = self._mark()
        self.on_placed(run)

    def _mark(self) -> Mark:
        return Mark(time.monotonic(), self._measure(), time.process_time())


Measure = Callable[[], Usage | None]
_LULL_SECONDS = 1.0
"""Without a placement, after which the last one may have been the last of all."""


class Loading:
    """The Runs of one round. `create` and `release` come in the order of the mode, then `follow`."""

    def __init__(self, site: LoadedCluster, number: int, patience_seconds: float) -> None:
        """number: of the round. patience_seconds: how long it may be that nothing is placed."""
        self.book = Book(ROLE)
        self.waited = site.load.mode is Mode.DRAIN
        self._site = site
        self._number = number
        self._patience_seconds = patience_seconds

    async def create(self) -> None:
        """Let the Runs come; returns when all are seen."""
        arrivals = self._site.load.arrivals(self._number)
        self.book.expected = len(arrivals)
        await create_load(self._site, self._number, arrivals)
        await self._site.observer.until(lambda: len(self.book.runs) >= len(arrivals))

    def release(self, measure: Measure) -> None:
        """From now on the scheduler can place. measure: gives what it has used so far."""
        self.book.release(measure)

    async def follow(self) -> None:
        """Follow the round to its end."""
        while not self.book.done:
            before, lull = self.book.placed, min(_LULL_SECONDS, self._patience_seconds)
            if await self._more_than(before, lull):
                continue
            # This may have been the last one: what is used while nothing comes is of no placement.
            self.book.pause()
            if not await self._more_than(before, self._patience_seconds - lull):
                break
        self.book.finish()

    async def _more_than(self, placed: int, seconds: float) -> bool:
        return await self._site.observer.until(lambda: self.book.placed > placed, seconds)


@asynccontextmanager
async def loading(site: LoadedCluster, number: int, patience_seconds: float) -> AsyncIterator[Loading]:
    """A round: its Runs are executed when they are placed, and taken away at its end."""
    round_ = Loading(site, number, patience_seconds)
    site.observer.listeners.append(round_.book.heard)
    async with beside(()) as group:
        runtimed = Runtimed(site, group)
        round_.book.on_placed = runtimed.begin
        try:
            yield round_
        finally:
            runtimed.stop()
            site.observer.listeners.remove(round_.book.heard)
    await remove_runs(site, ROLE)
