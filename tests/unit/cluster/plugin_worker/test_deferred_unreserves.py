"""An unreserve for each reserve that was asked, once its plugin can be asked."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

from scenes.planners import executed, passing, planning, reserve_of, returned
from scenes.planning import work_of

from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker, failed, failure
from kruntimes_core.engine.plugin_work import ReserveAnswer, UnreserveWork
from kruntimes_core.framework.runtime import PluginFailure
from kruntimes_core.testing.plugins import fake_plugin


def test_a_stuck_plugin_gets_its_unreserve_when_it_can() -> None:
    release = threading.Event()
    heard: list[bool] = []

    def hanging(pod: Any) -> None:
        release.wait(30)

    def unreserve(bound: bool) -> None:
        heard.append(bound)

    async def scene(planner: ThreadPluginWorker) -> None:
        plugin = fake_plugin("Hanger", filter=hanging, unreserve=unreserve, reserve=passing)
        plain = fake_plugin("Hanger", reserve=passing, unreserve=unreserve)
        assumption = reserve_of(plain).assumption
        assert isinstance(await executed(planner, work_of(plugin)), PluginFailure)
        due = UnreserveWork(plugin=assumption.profile.plugins[0], assumption=assumption, bound=True)
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

    async def scene(planner: ThreadPluginWorker) -> None:
        plugin = fake_plugin("Hanger", filter=hanging)
        assumption = reserve_of(
            fake_plugin("Hanger", reserve=passing, unreserve=lambda bound: None)
        ).assumption
        assert isinstance(await executed(planner, work_of(plugin)), PluginFailure)
        done: list[int] = []
        turns = 0
        for _ in range(owed):
            due = UnreserveWork(plugin=assumption.profile.plugins[0], assumption=assumption, bound=True)
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

    async def scene(planner: ThreadPluginWorker) -> None:
        assumption = reserve_of(fake_plugin("Hanger", reserve=passing, unreserve=hanging)).assumption
        due = UnreserveWork(plugin=assumption.profile.plugins[0], assumption=assumption, bound=True)
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

    async def scene(planner: ThreadPluginWorker) -> None:
        one = fake_plugin("One", reserve=passing)
        two = fake_plugin("Two", reserve=hanging)
        three = fake_plugin("Three", reserve=passing)
        answer = await executed(planner, reserve_of(one, two, three))
        assert isinstance(answer, ReserveAnswer)
        assert [plugin.name for plugin in answer.called] == ["One", "Two"]
        assert answer.broken is not None
        assert answer.broken.plugin == "Two"
        release.set()
        await returned(planner)

    planning(scene)


def test_nobody_is_owed_anything_for_a_reserve_that_was_not_begun_because_a_plugin_is_stuck() -> None:
    release = threading.Event()

    def hanging(pod: Any) -> None:
        release.wait(30)

    async def scene(planner: ThreadPluginWorker) -> None:
        reserving = (fake_plugin("One", reserve=passing), fake_plugin("Hanger", reserve=hanging))
        begun = await executed(planner, reserve_of(*reserving))
        assert [plugin.name for plugin in begun.called] == ["One", "Hanger"]
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
    assert answer.broken.plugin == "PluginWorker"
