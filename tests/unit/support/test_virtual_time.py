"""Hours pass in no time, in order, and a standstill is an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from virtual.time import StandstillError, VirtualClock, run_virtual

from kruntimes_core.engine.clock import SECOND


def test_timers_fire_in_order_and_at_their_moment() -> None:
    async def main() -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []
        loop = asyncio.get_running_loop()

        def seen_at(name: str) -> Callable[[], None]:
            return lambda: seen.append((name, loop.time()))

        for name, seconds in (("late", 7200.0), ("early", 0.5), ("middle", 60.0)):
            loop.call_later(seconds, seen_at(name))
        await asyncio.sleep(10_000)
        return seen

    assert run_virtual(main()) == [("early", 0.5), ("middle", 60.0), ("late", 7200.0)]


def test_a_time_limit_is_virtual_too() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.get_running_loop().create_future()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 3600


def test_waiting_for_nothing_is_an_error_and_no_hang() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StandstillError):
        run_virtual(main())


def test_a_clock_follows_the_loop_and_may_be_set() -> None:
    async def main() -> list[tuple[float, int]]:
        clock = VirtualClock()
        start = clock.now()

        def passed() -> tuple[float, int]:
            now = clock.now()
            return (now.wall - start.wall).total_seconds(), (now.ticks - start.ticks) // SECOND

        await asyncio.sleep(5)
        seen = [passed()]
        clock.jump(3600)
        seen.append(passed())
        clock.sleep_through(10)
        return [*seen, passed()]

    assert run_virtual(main()) == [(5.0, 5), (3605.0, 5), (3615.0, 15)]
