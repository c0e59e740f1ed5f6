"""Work is executed beside the loop, which waits a moment for it and no longer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from counting.loops import counted_timers
from scenes.planners import executed, passing, planning
from scenes.planning import work_of
from virtual.planning import InlinePlanner

from kruntimes_core.cluster.plugin_worker import (
    UNATTENDED,
    AdaptiveWait,
    PluginCall,
    ThreadPluginWorker,
    WorkerThread,
)
from kruntimes_core.engine.plugin_work import PlanWork, Work
from kruntimes_core.framework.runtime import ScheduleResult
from kruntimes_core.testing.plugins import fake_plugin


def test_work_is_executed_beside_the_loop() -> None:
    threads: list[str] = []

    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, work_of(fake_plugin(filter=noting)))
        assert isinstance(result, ScheduleResult)
        assert planner.free

    def noting(pod: Any) -> None:
        threads.append(threading.current_thread().name)

    planning(scene)
    assert threads == ["kruntimes-plugin-worker"]


def test_it_is_busy_while_a_call_is_under_way() -> None:
    leave = threading.Event()

    def waiting(pod: Any) -> None:
        leave.wait(30)

    async def scene(planner: ThreadPluginWorker) -> None:
        pending = asyncio.ensure_future(executed(planner, work_of(fake_plugin(filter=waiting))))
        await asyncio.sleep(0)
        assert not planner.free
        leave.set()
        await pending
        assert planner.free

    planning(scene, limit=30)


async def counted_turns(planner: ThreadPluginWorker, works: list[Work]) -> tuple[list[Any], int, int]:
    """Results of some work, one after the other, how often the loop was told, and timers that were set."""
    loop: Any = asyncio.get_running_loop()
    told, tell = 0, loop.call_soon_threadsafe

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal told
        told += 1
        return tell(*arguments, **more)

    loop.call_soon_threadsafe = counted
    with counted_timers() as timers:
        results = [await executed(planner, work) for work in works]
    return results, told, timers[ThreadPluginWorker]


def test_the_loop_is_not_told_of_what_is_done_in_a_moment() -> None:
    async def scene(planner: ThreadPluginWorker) -> None:
        works = [work_of(fake_plugin(filter=passing)) for _ in range(40)]
        results, told, timers = await counted_turns(planner, works)
        assert all(isinstance(result, ScheduleResult) for result in results)
        assert (told, timers) == (0, 0)

    planning(scene, limit=30, moment_seconds=30)


def test_after_work_that_took_longer_some_is_not_waited_for() -> None:
    wait = AdaptiveWait(0.5)
    assert wait.next() == 0.5
    wait.late(0.5)
    for _ in range(UNATTENDED):
        assert wait.next() == 0
        wait.late(0)
    assert [wait.next(), wait.next()] == [0.5, 0.5]


def test_a_result_that_comes_too_late_is_told_once() -> None:
    delivered: list[PluginCall] = []
    left = threading.Event()
    leave = threading.Event()

    def waiting(pod: Any) -> None:
        leave.wait(30)

    worker = WorkerThread(delivered.append, lambda worker, error: left.set())
    late, in_time = (
        PluginCall(work_of(fake_plugin(filter=hook)), lambda result: None, worker)
        for hook in (waiting, passing)
    )
    worker.execute(late)
    assert not late.wait(0)
    leave.set()
    worker.execute(in_time)
    assert in_time.wait(30)
    assert isinstance(in_time.result, ScheduleResult)
    worker.retire()
    assert left.wait(30)
    assert delivered == [late]
    assert isinstance(late.result, ScheduleResult)


def test_inline_plans_come_back_at_once() -> None:
    work = work_of(fake_plugin(filter=passing))
    assert isinstance(work, PlanWork)
    results: list[Any] = []
    planner = InlinePlanner()
    planner.submit(work, results.append)
    planner.close()
    assert isinstance(results[0], ScheduleResult)
    assert planner.free
    assert planner.stuck == {}
