"""A plugin that hangs holds up its own Runs, is named, and is left alone until it returns."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from counting.loops import counted_timers
from scenes.planning import work_of
from virtual.planning import InlinePlanner

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observing.log import Log
from kruntimes_core.cluster.planning.blame import failed, failure
from kruntimes_core.cluster.planning.patience import UNATTENDED, Patience
from kruntimes_core.cluster.planning.protocol import Task
from kruntimes_core.cluster.planning.thread import Handover, WorkerThread
from kruntimes_core.cluster.planning.worker import WorkerPlanner
from kruntimes_core.engine.binding.reservations import Unreserve
from kruntimes_core.engine.cycle.work import PlanWork, ReserveAnswer, ReserveWork, UnreserveWork, Work
from kruntimes_core.engine.record.judging import JudgeWork, Question
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import Broken, Chosen
from kruntimes_core.testing.builders import make_pod, make_run, make_snapshot
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

LIMIT = 0.05


def reserve_of(*plugins: ActivePlugin) -> ReserveWork:
    """The question whether the plugins agree to a placement."""
    host = Host(profiles_of(*plugins))
    host.pod("py-0")
    host.run("r1")
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    return work


def planning(scene: Callable[[WorkerPlanner], Awaitable[None]], limit: float = LIMIT, **more: float) -> str:
    """Play a scene with a planner of short patience; gives what was logged."""
    lines = io.StringIO()

    async def main() -> None:
        planner = WorkerPlanner(Log(lines, SystemClock()), limit_seconds=limit, grace_seconds=LIMIT, **more)
        async with asyncio.timeout(30):
            await scene(planner)
        planner.close()

    asyncio.run(main())
    return lines.getvalue()


async def executed(planner: WorkerPlanner, work: Task) -> Any:
    """Submit work and wait for what comes of it."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    planner.submit(work, done.set_result)
    return await done


async def returned(planner: WorkerPlanner) -> None:
    """Wait until no call is stuck any more."""
    while planner.stuck:
        await asyncio.sleep(0)


def passing(pod: Any) -> None:
    """A filter that lets all pass."""


def test_work_is_executed_beside_the_loop() -> None:
    threads: list[str] = []

    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, work_of(fake_plugin(filter=noting)))
        assert isinstance(result, Chosen)
        assert planner.free

    def noting(pod: Any) -> None:
        threads.append(threading.current_thread().name)

    planning(scene)
    assert threads == ["kruntimes-planner"]


def test_it_is_busy_while_a_call_is_under_way() -> None:
    leave = threading.Event()

    def waiting(pod: Any) -> None:
        leave.wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        pending = asyncio.ensure_future(executed(planner, work_of(fake_plugin(filter=waiting))))
        await asyncio.sleep(0)
        assert not planner.free
        leave.set()
        await pending
        assert planner.free

    planning(scene, limit=30)


async def counted_turns(planner: WorkerPlanner, works: list[Work]) -> tuple[list[Any], int, int]:
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
    return results, told, timers[WorkerPlanner]


def test_the_loop_is_not_told_of_what_is_done_in_a_moment() -> None:
    async def scene(planner: WorkerPlanner) -> None:
        works = [work_of(fake_plugin(filter=passing)) for _ in range(40)]
        results, told, timers = await counted_turns(planner, works)
        assert all(isinstance(result, Chosen) for result in results)
        assert (told, timers) == (0, 0)

    planning(scene, limit=30, moment_seconds=30)


def test_after_work_that_took_longer_some_is_not_waited_for() -> None:
    patience = Patience(0.5)
    assert patience.next() == 0.5
    patience.late(0.5)
    for _ in range(UNATTENDED):
        assert patience.next() == 0
        patience.late(0)
    assert [patience.next(), patience.next()] == [0.5, 0.5]


def test_a_result_that_comes_too_late_is_told_once() -> None:
    delivered: list[Handover] = []
    left = threading.Event()
    leave = threading.Event()

    def waiting(pod: Any) -> None:
        leave.wait(30)

    worker = WorkerThread(delivered.append, lambda worker, error: left.set())
    handover = worker.execute(work_of(fake_plugin(filter=waiting)))
    assert not handover.wait(0)
    leave.set()
    in_time = worker.execute(work_of(fake_plugin(filter=passing)))
    assert in_time.wait(30)
    assert isinstance(in_time.result, Chosen)
    worker.retire()
    assert left.wait(30)
    assert delivered == [handover]
    assert isinstance(handover.result, Chosen)


def test_a_loop_without_end_is_interrupted_and_named() -> None:
    def spinning(pod: Any) -> None:
        while True:
            pass

    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, work_of(fake_plugin("Spinner", filter=spinning)))
        assert isinstance(result, Broken)
        assert (result.error.plugin, result.error.hook) == ("Spinner", "filter")
        assert "longer than the time limit" in result.error.problem
        assert planner.stuck == {}
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), Chosen)

    planning(scene)


def test_a_call_that_does_not_return_is_abandoned_and_its_plugin_left_alone() -> None:
    release = threading.Event()
    asked: list[int] = []

    def hanging(pod: Any) -> None:
        asked.append(1)
        release.wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        hung = fake_plugin("Hanger", filter=hanging)
        result = await executed(planner, work_of(hung))
        assert isinstance(result, Broken)
        assert (result.error.plugin, result.error.hook) == ("Hanger", "filter")
        assert planner.stuck == {"Hanger": 1}
        again = await executed(planner, work_of(hung))
        assert isinstance(again, Broken)
        assert "not asked until an earlier call returns" in again.error.problem
        assert asked == [1]
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), Chosen)
        release.set()
        await returned(planner)
        assert isinstance(await executed(planner, work_of(hung)), Chosen)
        assert asked == [1, 1]

    logged = planning(scene)
    assert "abandoned a call plugin=Hanger" in logged
    assert "an abandoned call returned plugin=Hanger" in logged


def test_a_plugin_that_swallows_the_interruption_is_abandoned() -> None:
    release = threading.Event()

    def stubborn(pod: Any) -> None:
        while not release.is_set():
            try:
                release.wait(0.01)
            except BaseException:  # noqa: BLE001, S112 - as rude as can be
                continue

    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, work_of(fake_plugin("Stubborn", filter=stubborn)))
        assert isinstance(result, Broken)
        release.set()
        await returned(planner)

    planning(scene)


@pytest.mark.parametrize("rude", [SystemExit(1), KeyboardInterrupt(), GeneratorExit(), RecursionError()])
def test_nothing_that_a_plugin_raises_ends_the_planner(rude: BaseException) -> None:
    def raising(pod: Any) -> None:
        raise rude

    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, work_of(fake_plugin("Rude", filter=raising)))
        assert isinstance(result, Broken)
        assert (result.error.plugin, result.error.hook) == ("Rude", "filter")
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), Chosen)

    planning(scene)


def test_a_plugin_that_exits_its_thread_is_named() -> None:
    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, work_of(fake_plugin("Quitter", filter=lambda pod: sys.exit(1))))
        assert isinstance(result, Broken)
        assert result.error.plugin == "Quitter"

    planning(scene)


def test_a_stuck_plugin_gets_its_unreserve_when_it_can() -> None:
    release = threading.Event()
    heard: list[bool] = []

    def hanging(pod: Any) -> None:
        release.wait(30)

    def unreserve(bound: bool) -> None:
        heard.append(bound)

    async def scene(planner: WorkerPlanner) -> None:
        plugin = fake_plugin("Hanger", filter=hanging, unreserve=unreserve, reserve=passing)
        plain = fake_plugin("Hanger", reserve=passing, unreserve=unreserve)
        assumption = reserve_of(plain).assumption
        assert isinstance(await executed(planner, work_of(plugin)), Broken)
        due = UnreserveWork(due=Unreserve(assumption.profile.plugins[0], assumption, bound=True))
        pending = asyncio.ensure_future(executed(planner, due))
        await asyncio.sleep(0)
        assert planner.free
        assert heard == []
        release.set()
        assert await pending is None
        assert heard == [True]

    planning(scene)


def test_unreserves_that_a_stuck_plugin_is_owed_are_asked_in_turns_of_their_own() -> None:
    """There may be thousands: they neither pile up on the stack nor keep the loop from its other work."""
    release = threading.Event()
    owed = sys.getrecursionlimit()

    def hanging(pod: Any) -> None:
        release.wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        plugin = fake_plugin("Hanger", filter=hanging)
        assumption = reserve_of(
            fake_plugin("Hanger", reserve=passing, unreserve=lambda bound: None)
        ).assumption
        assert isinstance(await executed(planner, work_of(plugin)), Broken)
        done: list[int] = []
        turns = 0
        for _ in range(owed):
            due = UnreserveWork(due=Unreserve(assumption.profile.plugins[0], assumption, bound=True))
            planner.submit(due, lambda result: done.append(turns))
        release.set()
        await returned(planner)
        while not planner.free:
            turns += 1
            await asyncio.sleep(0)
        assert len(done) == owed
        assert len(set(done)) > owed // 2

    planning(scene, moment_seconds=0.2)


def test_a_plugin_that_hangs_again_in_what_it_is_owed_holds_nobody_up() -> None:
    """Who hears that a call was given up finds the planner free: nobody says so later."""
    releases = [threading.Event(), threading.Event()]
    asked: list[int] = []
    free: list[bool] = []

    def hanging() -> None:
        asked.append(1)
        releases[min(len(asked), 2) - 1].wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        assumption = reserve_of(fake_plugin("Hanger", reserve=passing, unreserve=hanging)).assumption
        due = UnreserveWork(due=Unreserve(assumption.profile.plugins[0], assumption, bound=True))
        await executed(planner, due)
        for _ in range(3):
            planner.submit(due, lambda result: free.append(planner.free))
        for number, release in enumerate(releases):
            assert planner.stuck == {"Hanger": 1}
            release.set()
            while len(free) < (1, 3)[number]:
                await asyncio.sleep(0)
        assert (len(asked), free[0]) == (4, True)

    planning(scene)


def test_a_hanging_reserve_is_owed_an_unreserve() -> None:
    release = threading.Event()

    def hanging(pod: Any) -> None:
        release.wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        one = fake_plugin("One", reserve=passing)
        two = fake_plugin("Two", reserve=hanging)
        three = fake_plugin("Three", reserve=passing)
        answer = await executed(planner, reserve_of(one, two, three))
        assert isinstance(answer, ReserveAnswer)
        assert [plugin.name for plugin in answer.asked] == ["One", "Two"]
        assert answer.broken is not None
        assert answer.broken.plugin == "Two"
        release.set()
        await returned(planner)

    planning(scene)


def test_nobody_is_owed_anything_for_a_reserve_that_was_not_begun_because_a_plugin_is_stuck() -> None:
    release = threading.Event()

    def hanging(pod: Any) -> None:
        release.wait(30)

    async def scene(planner: WorkerPlanner) -> None:
        reserving = (fake_plugin("One", reserve=passing), fake_plugin("Hanger", reserve=hanging))
        begun = await executed(planner, reserve_of(*reserving))
        assert [plugin.name for plugin in begun.asked] == ["One", "Hanger"]
        answer = await executed(planner, reserve_of(*reserving))
        assert answer == ReserveAnswer((), broken=answer.broken)
        assert answer.broken.plugin == "Hanger"
        release.set()
        await returned(planner)

    planning(scene)


def test_a_plugin_that_was_not_asked_is_owed_nothing() -> None:
    work = reserve_of(fake_plugin("One", reserve=passing))
    answer = failed(work, failure(None, "it broke"))
    assert answer == ReserveAnswer((), broken=answer.broken)
    assert answer.broken.plugin == "Planner"


def test_inline_plans_come_back_at_once() -> None:
    work = work_of(fake_plugin(filter=passing))
    assert isinstance(work, PlanWork)
    results: list[Any] = []
    planner = InlinePlanner()
    planner.submit(work, results.append)
    planner.close()
    assert isinstance(results[0], Chosen)
    assert planner.free
    assert planner.stuck == {}


def test_a_question_about_the_past_is_bounded_like_a_plan() -> None:
    def spinning(pod: Any) -> None:
        while True:
            pass

    profile = profiles_of(fake_plugin("Odd", filter=spinning)).all[0]
    question = Question(run=make_run(), snapshot=make_snapshot(make_pod()))

    async def scene(planner: WorkerPlanner) -> None:
        result = await executed(planner, JudgeWork(profile=profile, questions=(question,)))
        assert isinstance(result, Broken)
        assert (result.error.plugin, result.error.hook) == ("Odd", "filter")

    planning(scene)
