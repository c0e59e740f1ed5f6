"""What keeps an engine going: its moments, its work for the planner, its requests for the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.planning.protocol import Planner
from kruntimes_core.cluster.slices import SLICE_TICKS
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.work import BatchRetryWork, PlanWork, Work, WorkResult

# Timers of the loop stand still while the machine is suspended; the engine's clock does not. So the
# engine is looked at once a second, whatever the timers say.
_LONGEST_REST_SECONDS = 1.0


def nothing_aside() -> bool:
    """There is nothing beside the engine."""
    return False


class Pump:
    """Does what is due in slices, and rests until something stirs.

    It is woken by every event, so a turn that finds nothing to do reads the clock once and sets no timer.
    Its turns are its own, though each costs a little: what came by other watches in the same moment is known
    by then, and no Run is bound in ignorance of it.
    """

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
        self._timer: asyncio.TimerHandle | None = None
        """What ends the rest. One that rings too early only makes for a turn without work."""

    async def go_on(self) -> None:
        """Do one slice of what is due, or rest if nothing is."""
        now = self._clock.now()
        end = now.ticks + SLICE_TICKS
        while self._step(now):
            now = self._clock.now()
            if now.ticks >= end:
                await asyncio.sleep(0)
                return
        await self._rest(now)

    async def finish_work(self) -> None:
        """Let plugins hear of what ended, and wait for a call under way; send nothing."""
        while True:
            now = self._clock.now()
            if self._tick(now) or self._plan(now) or self._aside():
                await asyncio.sleep(0)  # whoever stops the host also renews the Lease, and has a limit
                continue
            if self._planner.free:
                return
            await self._rest(now)

    def _step(self, now: Now) -> bool:
        """Do one thing that is due; False if nothing more is before something stirs."""
        if self._tick(now):
            return True
        planned = self._plan(now)
        return self._writer.send_next(now) or (planned and self._planner.free) or self._aside()

    def _tick(self, now: Now) -> bool:
        """Let the engine do what its time has come for."""
        wake_at = self._engine.wake_at
        if wake_at is None or wake_at > now.ticks:
            return False
        self._engine.tick(now)
        return True

    def _plan(self, now: Now) -> bool:
        """Hand the next piece of work to the planner, if it takes one."""
        if not self._planner.free:
            return False
        work = self._engine.take(now)
        if work is None:
            return False
        self._planner.submit(work, partial(self._finished, work, now.ticks))
        return True

    def _finished(self, work: Work, began: int, result: WorkResult) -> None:
        now = self._clock.now()
        if isinstance(work, (PlanWork, BatchRetryWork)):
            self._metrics.planned(now.ticks - began)
        self._engine.finish(work, result, now)
        self._stirred.set()

    # Rest

    async def _rest(self, now: Now) -> None:
        """Wait until something stirs, or the engine's next moment has come.

        What stirred before was seen by the step that found nothing to do: nobody else has run since.
        """
        self._stirred.clear()
        seconds = _LONGEST_REST_SECONDS
        wake_at = self._engine.wake_at
        if wake_at is not None:
            seconds = min(max((wake_at - now.ticks) / SECOND, 0.0), seconds)
        self._ring_within(seconds)
        await self._stirred.wait()

    def _ring_within(self, seconds: float) -> None:
        """See that the timer rings in `seconds` at the latest."""
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._stirred.set()
