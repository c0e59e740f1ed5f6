"""A loop whose time jumps to the next timer, so that hours pass in milliseconds and always alike.

Only what happens on the loop counts: nothing on it may wait for a thread or a socket.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Collection, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeVar

from kruntimes_core.cluster.plugin_worker import Block, Done
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.plugin_work import PluginWork, Runners
from kruntimes_core.framework.profile import Profile

_T = TypeVar("_T")
_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class StandstillError(RuntimeError):
    """Nothing is due and nothing ever will be: who waits now waits for ever."""


class _JumpingSelector(selectors.DefaultSelector):
    """Takes a wait for time that has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready at once; else the time until the next timer has passed."""
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise StandstillError("nothing is due any more, and something still waits")
        self.seconds += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time, which begins at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Seconds since the beginning."""
        return self._jumping.seconds


class VirtualClock:
    """The clocks of one host on a `VirtualLoop`."""

    def __init__(self, start: datetime = _START) -> None:
        """start: what the wall clock shows at the beginning of virtual time."""
        self._wall = start
        self._slept = 0.0

    def now(self) -> Now:
        """Both clocks at this moment of the running loop."""
        seconds = asyncio.get_running_loop().time() + self._slept
        return Now(self._wall + timedelta(seconds=seconds), round(seconds * SECOND))

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back; the other one does not notice."""
        self._wall += timedelta(seconds=seconds)

    def sleep_through(self, seconds: float) -> None:
        """Let both clocks go on while the loop stood still, as in a suspended machine."""
        self._slept += seconds


def run_virtual(main: Coroutine[Any, Any, _T]) -> _T:
    """Run `main` in virtual time and give its result."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


class InlinePlanner:
    """Executes work in the call that brings it: no thread lives in virtual time."""

    free = True
    worked_at = 0.0

    def __init__(self) -> None:
        self._runners = Runners()

    @property
    def stuck(self) -> Mapping[str, int]:
        """A call that does not return would stop everything here, so there is never one."""
        return MappingProxyType({})

    def block_of(self, profile: Profile, queue_profile: Profile | None) -> Block | None:
        """None."""
        return None

    def keep(self, profiles: Collection[Profile]) -> None:
        """There is nothing to end."""

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work at once."""
        done(work.execute(self._runners))

    def close(self) -> None:
        """There is nothing to close."""
