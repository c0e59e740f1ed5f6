"""What keeps an engine going: its moments, its work for the planner, its requests for the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observing.metrics import Metrics
from kruntimes_core.cluster.planning.protocol import Planner
from kruntimes_core.cluster.slices import Slices
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.engine.cycle.work import PlanWork, Result, Work
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.instant import SECOND

# Timers of the loop stand still while the machine is suspended; the engine's clock does not. So the
# engine is looked at once a second, whatever the timers say.
_LONGEST_REST_SECONDS = 1.0


def nothing_aside() -> bool:
    """There is nothing beside the engine."""
    return False


class Pump:
    """Does what is due in slices, and rests until something stirs."""

    def __init__(
        self,
        *,
        engine: Engine,
        planner: Planner,
        writer: Writer,
        clock: Clock,
        metrics: Metrics,
        stirred: asyncio.Event,
        aside: Callable[[], bool] = nothing_aside,
    ) -> None:
        """stirred: set by whoever brings something new.

        aside: does one thing of another part that is due, once nothing of the engine is; False if nothing is.
        """
        self._engine = engine
        self._planner = planner
        self._writer = writer
        self._clock = clock
        self._metrics = metrics
        self._stirred = stirred
        self._aside = aside
        self._slices = Slices(clock)

    async def go_on(self) -> None:
        """Do one slice of what is due, or rest if nothing is."""
        self._slices.restart()
        while self._step():
            if self._slices.over:
                await asyncio.sleep(0)
                return
        await self._rest()

    async def finish_work(self) -> None:
        """Let plugins hear of what ended, and wait for a call under way; send nothing."""
        while self._tick() or self._plan() or self._aside() or not self._planner.free:
            await self._rest()

    def _step(self) -> bool:
        """Do one thing that is due; False if nothing is."""
        if self._tick():
            return True
        planned = self._plan()
        return self._writer.send_next() or planned or self._aside()

    def _tick(self) -> bool:
        """Let the engine do what its time has come for."""
        now = self._clock.now()
        wake_at = self._engine.wake_at
        if wake_at is None or wake_at > now.ticks:
            return False
        self._engine.tick(now)
        return True

    def _plan(self) -> bool:
        """Hand the next piece of work to the planner, if it takes one."""
        if not self._planner.free:
            return False
        now = self._clock.now()
        work = self._engine.take(now)
        if work is None:
            return False
        self._planner.submit(work, partial(self._finished, work, now.ticks))
        return True

    def _finished(self, work: Work, began: int, result: Result) -> None:
        now = self._clock.now()
        if isinstance(work, PlanWork):
            self._metrics.cycle_seconds.observe((now.ticks - began) / SECOND)
        self._engine.finish(work, result, now)
        self._stirred.set()

    async def _rest(self) -> None:
        """Wait until something stirs, or the engine's next moment has come."""
        seconds = _LONGEST_REST_SECONDS
        wake_at = self._engine.wake_at
        if wake_at is not None:
            left = (wake_at - self._clock.now().ticks) / SECOND
            seconds = min(max(left, 0.0), seconds)
        timer = asyncio.get_running_loop().call_later(seconds, self._stirred.set)
        await self._stirred.wait()
        timer.cancel()
        self._stirred.clear()
