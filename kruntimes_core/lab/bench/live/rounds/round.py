"""One load: the Runs come, and are followed until the last one is placed or nothing more happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kruntimes_core.lab.bench.live.load import Mode
from kruntimes_core.lab.bench.live.made.clearing import remove_runs
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.rounds.arriving import ROLE, create_load
from kruntimes_core.lab.bench.live.rounds.runtimed import Runtimed
from kruntimes_core.lab.bench.live.rounds.times import Book
from kruntimes_core.lab.bench.live.scheduler.usage import Usage
from kruntimes_core.lab.bench.live.tasks import beside

Measure = Callable[[], Usage | None]
_LULL_SECONDS = 1.0
"""Without a placement, after which the last one may have been the last of all."""


class Loading:
    """The Runs of one round. `create` and `release` come in the order of the mode, then `follow`."""

    def __init__(self, site: Site, number: int, patience_seconds: float) -> None:
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
async def loading(site: Site, number: int, patience_seconds: float) -> AsyncIterator[Loading]:
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
