"""The scheduling loop: ticks the engine, and passes on its plugin work and its API calls."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial

from kruntimes_core.cluster.api_dispatcher import ApiDispatcher
from kruntimes_core.cluster.clock import SLICE_TICKS, Clock
from kruntimes_core.cluster.observability.log import Log, RareWarning
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.counters import Counters
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.plugin_work import BatchRetryWork, PlanWork, Work, WorkResult
from kruntimes_core.engine.scheduling_queue import SMALLEST_PAUSE

# The timers of asyncio stop while the machine is suspended, but the engine's clock goes on. So the loop
# checks at least every second whether something is due.
_LONGEST_REST_SECONDS = 1.0


class EarlyRetries:
    """Warns of a plugin whose `retry_at` is too soon: the first time, and then at most once a minute."""

    def __init__(self, counters: Counters, log: Log, clock: Clock) -> None:
        self._counters = counters
        self._warnings: defaultdict[str, RareWarning] = defaultdict(lambda: RareWarning(log, clock))
        self._known: Counter[str] = Counter()

    def look(self) -> None:
        """Warn of plugins that did so since the last call."""
        counts = self._counters.early_retries
        if counts == self._known:
            return
        for plugin in counts - self._known:
            self._warnings[plugin](
                "a plugin asks to be called again too soon",
                plugin=plugin,
                called_again_after_seconds=SMALLEST_PAUSE / SECOND,
            )
        self._known = counts.copy()


class SchedulingLoop:
    """Does due work in time slices, and sleeps until it is woken.

    Every event wakes the loop, so a turn without work must be cheap: it reads the clock once, and sets no
    timer. The loop decides in its own turn and not in that of an event, so that it also knows the events of
    other watches that arrive at the same moment.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        plugin_worker: PluginWorker,
        dispatcher: ApiDispatcher,
        clock: Clock,
        metrics: Metrics,
        log: Log,
        wakeup: asyncio.Event,
        background_work: Callable[[], bool] = lambda: False,
    ) -> None:
        """wakeup: each part sets this event when it has something new.

        background_work: called when the engine has nothing due; does one piece of due work of another part,
        and returns False if there is none.
        """
        self._engine = engine
        self._plugin_worker = plugin_worker
        self._dispatcher = dispatcher
        self._clock = clock
        self._metrics = metrics
        self._early_retries = EarlyRetries(engine.counters, log, clock)
        self._wakeup = wakeup
        self._background_work = background_work
        self._timer: asyncio.TimerHandle | None = None
        """Ends the sleep. A timer that fires too early only causes a turn without work."""

    async def go_on(self) -> None:
        """Do due work for one time slice, or sleep if nothing is due."""
        now = self._clock.now()
        end = now.ticks + SLICE_TICKS
        while self._step(now):
            now = self._clock.now()
            if now.ticks >= end:
                await asyncio.sleep(0)
                return
        await self._rest(now)

    async def finish_work(self) -> None:
        """Call `unreserve` for reservations that ended, and wait for the current call. Sends no request."""
        while True:
            now = self._clock.now()
            if self._tick(now) or self._plan(now) or self._background_work():
                await asyncio.sleep(0)  # the Lease is renewed meanwhile, and a stop has a limit
                continue
            if self._plugin_worker.free:
                return
            await self._rest(now)

    def _step(self, now: Now) -> bool:
        """Do one thing that is due. False if nothing is due until the loop is woken."""
        if self._tick(now):
            return True
        planned = self._plan(now)
        return (
            self._dispatcher.send_next(now)
            or (planned and self._plugin_worker.free)
            or self._background_work()
        )

    def _tick(self, now: Now) -> bool:
        """Tick the engine, if one of its timers is due."""
        wake_at = self._engine.wake_at
        if wake_at is None or wake_at > now.ticks:
            return False
        self._engine.tick(now)
        return True

    def _plan(self, now: Now) -> bool:
        """Hand the next piece of work to the plugin worker, if it is free."""
        if not self._plugin_worker.free:
            return False
        work = self._engine.take(now)
        if work is None:
            return False
        self._plugin_worker.submit(work, partial(self._finished, work, now.ticks))
        return True

    def _finished(self, work: Work, began: int, result: WorkResult) -> None:
        now = self._clock.now()
        if isinstance(work, (PlanWork, BatchRetryWork)):
            self._metrics.planned(now.ticks - began)
        self._engine.finish(work, result, now)
        self._early_retries.look()
        self._wakeup.set()

    # Rest

    async def _rest(self, now: Now) -> None:
        """Sleep until the loop is woken, or until the next timer of the engine or the dispatcher is due.

        It is safe to clear earlier wakeups: the last step already saw what they announced, because no other
        task has run since.
        """
        self._wakeup.clear()
        seconds = _LONGEST_REST_SECONDS
        for wake_at in (self._engine.wake_at, self._dispatcher.wake_at(now.ticks)):
            if wake_at is None:
                continue
            seconds = min(max((wake_at - now.ticks) / SECOND, 0.0), seconds)
        self._ring_within(seconds)
        await self._wakeup.wait()

    def _ring_within(self, seconds: float) -> None:
        """Ensure that the timer fires in `seconds` at the latest."""
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wakeup.set()
