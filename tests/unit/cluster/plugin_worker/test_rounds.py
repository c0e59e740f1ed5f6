"""The time limit in a round of offers, on the real worker: who is named, and that nothing is lost by it."""

from __future__ import annotations

import asyncio
import threading

from offering.scene import ALL, Scene
from scenes.planners import executed, planning

from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.framework.runtime import PluginFailure, Unschedulable


async def settle(planner: ThreadPluginWorker, scene: Scene) -> None:
    """Do all work on the planner, and send all requests."""
    while True:
        scene.host.observe()
        work = scene.host.engine.take(scene.host.now)
        if work is not None:
            scene.host.engine.finish(work, await executed(planner, work), scene.host.now)
        elif not scene.host.send():
            return


def spin() -> None:
    while True:
        pass


def test_a_round_that_is_interrupted_says_in_whose_plan_that_was() -> None:
    scene = Scene()
    scene.fail(2, "filter", spin)
    scene.gpus(1)

    async def play(planner: ThreadPluginWorker) -> None:
        outcomes = await executed(planner, scene.offered())
        assert [type(outcome) for outcome in outcomes] == [Unschedulable, Unschedulable, PluginFailure]
        error = outcomes[-1].error
        assert (error.plugin, error.hook, error.overtime) == ("Moody", "filter", True)

    planning(play)


def test_the_others_of_a_round_that_is_interrupted_are_placed() -> None:
    scene = Scene()
    scene.fail(2, "filter", spin)
    scene.gpus(1)

    async def play(planner: ThreadPluginWorker) -> None:
        await settle(planner, scene)
        assert scene.placed == ["c1-0"]
        assert scene.errors == {("Moody", "filter"): 3}
        assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0", "c2-1", "c2-2"]

    planning(play)


def test_a_round_that_does_not_come_back_is_lost_to_nobody() -> None:
    scene = Scene()
    release = threading.Event()
    scene.fail(2, "filter", lambda: release.wait(30))
    scene.gpus(1)

    async def play(planner: ThreadPluginWorker) -> None:
        await settle(planner, scene)
        assert planner.stuck == {"Moody": 1}
        assert scene.placed == []
        # The plugin is left alone until it returns, and no Run is decided without it.
        assert scene.with_outcome(Outcome.BACKOFF) == ALL
        release.set()
        while planner.stuck:
            await asyncio.sleep(0)
        scene.host.pass_time(60)
        scene.host.beat_all()
        await settle(planner, scene)
        assert scene.placed == ["c1-0"]
        assert scene.waiting == [name for name in ALL if name != "c1-0"]
        assert scene.texts_written == len(ALL)

    planning(play)
