"""The order of a bench: the ceiling, a round, the ceiling, a round, ... and the ceiling."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from statistics import harmonic_mean

from kruntimes_core.lab.bench.live.load import Mode
from kruntimes_core.lab.bench.live.made.clearing import remove_pods
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.report.results import Round
from kruntimes_core.lab.bench.live.rounds.background import add_background
from kruntimes_core.lab.bench.live.rounds.ceiling import Ceiling
from kruntimes_core.lab.bench.live.rounds.lateness import Lateness
from kruntimes_core.lab.bench.live.rounds.measuring import round_of
from kruntimes_core.lab.bench.live.rounds.readiness import check_nobody_else, wait_until_ready
from kruntimes_core.lab.bench.live.rounds.round import loading
from kruntimes_core.lab.bench.live.rounds.times import Book
from kruntimes_core.lab.bench.live.scheduler.process import Running
from kruntimes_core.lab.bench.live.scheduler.usage import Usage, usage_of
from kruntimes_core.lab.bench.live.settings import Settings
from kruntimes_core.lab.bench.live.tasks import beside
from kruntimes_core.model.messages import counted

Start = Callable[[], AbstractAsyncContextManager[Running]]
"""Starts the scheduler, for as long as a block lasts."""
_NOTHING = Usage(0.0, 0, 0)
_NEVER_QUIET = "the scheduler writes on and on to Runs that wait: what follows is measured beside that"


class Rounds:
    """Loads a scheduler several times, with the ceiling in between."""

    def __init__(
        self,
        site: Site,
        settings: Settings,
        ceiling: Ceiling,
        lateness: Lateness,
        start: Start,
        tell: Callable[[str], None],
    ) -> None:
        """start: of the scheduler, unless it runs already. tell: takes a line on how it goes."""
        self._site = site
        self._settings = settings
        self._ceiling = ceiling
        self._lateness = lateness
        self._start = start
        self._tell = tell
        self._scheduler: Running | None = None
        self.samples: list[list[float]] = []
        """Each measurement of the ceiling."""
        self.rounds: list[Round] = []

    async def run(self) -> None:
        """All of it. Raises `InputError` if the scheduler ends, or does not place at all."""
        await self._prepare()
        await self._measure_ceiling()
        for number in range(1, self._settings.repeat + 1):
            gc.collect()
            # What is known by now is not looked through again and again while times are taken.
            gc.freeze()
            self._lateness.take()
            book = await self._round(number)
            late = self._lateness.take()
            await self._measure_ceiling()
            self._note(number, book, late)

    # Inside

    @property
    def _pods_come_last(self) -> bool:
        """Whether Runs of a scheduler that runs already wait because there is no Pod yet."""
        return self._settings.external and self._settings.load.mode is Mode.DRAIN

    async def _prepare(self) -> None:
        external = self._settings.external
        if not self._pods_come_last:
            await self._site.add_pods()
            if external:
                await self._wait_until_ready()
            else:
                await check_nobody_else(self._site, self._settings.waits.nobody)
        await add_background(self._site, scheduled=external)
        await self._ceiling.prepare()

    async def _measure_ceiling(self) -> None:
        samples = await self._ceiling.measure(alone=not self._settings.external)
        self.samples.append(samples)
        self._tell(f"the API server takes {harmonic_mean(samples):.0f} bare patches a second")

    async def _round(self, number: int) -> Book:
        self._tell(f"round {number} of {self._settings.repeat}")
        if self._settings.load.mode is not Mode.DRAIN:
            return await self._arrivals(number)
        return await (self._pods_last(number) if self._pods_come_last else self._drain(number))

    async def _drain(self, number: int) -> Book:
        async with loading(self._site, number, self._settings.patience_seconds) as load:
            await load.create()
            load.release(self._usage)
            async with self._running():
                await load.follow()
        return load.book

    async def _pods_last(self, number: int) -> Book:
        async with loading(self._site, number, self._settings.patience_seconds) as load:
            await load.create()
            await self._quiet()
            load.release(self._usage)
            await self._site.add_pods()
            await load.follow()
        await remove_pods(self._site)
        return load.book

    async def _arrivals(self, number: int) -> Book:
        async with self._running():
            if not self._settings.external:
                await self._wait_until_ready()
            async with loading(self._site, number, self._settings.patience_seconds) as load:
                load.release(self._usage)
                await load.create()
                await load.follow()
        return load.book

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        """The scheduler runs; if it ends before the block does, that fails."""
        if self._settings.external:
            yield
            return
        try:
            async with self._start() as self._scheduler, beside([self._scheduler.ended()]):
                yield
                # What a scheduler writes after the last placement is judged too.
                await self._quiet()
        finally:
            self._scheduler = None

    async def _wait_until_ready(self) -> None:
        if not await wait_until_ready(self._site, self._settings.patience_seconds, self._settings.waits):
            self._tell(_NEVER_QUIET)

    async def _quiet(self) -> None:
        waits = self._settings.waits
        if not await self._site.observer.quiet(waits.quiet, waits.longest_quiet):
            self._tell(_NEVER_QUIET)

    def _usage(self) -> Usage | None:
        """What the scheduler has used so far."""
        if self._settings.external:
            return usage_of(self._settings.pid) if self._settings.pid is not None else None
        return self._scheduler.usage() if self._scheduler is not None else _NOTHING

    def _note(self, number: int, book: Book, late_seconds: float) -> None:
        round_ = round_of(
            number,
            book,
            waited=self._settings.load.mode is Mode.DRAIN,
            own_versions=self._site.api.own_versions,
            ceiling=[rate for samples in self.samples[-2:] for rate in samples],
            in_flight=self._settings.in_flight,
            late_seconds=late_seconds,
        )
        self.rounds.append(round_)
        rate = f"{round_.rate:.0f} a second" if round_.rate is not None else "no rate"
        self._tell(f"placed {round_.placed} of {counted(round_.expected, 'Run')}, {rate}")
