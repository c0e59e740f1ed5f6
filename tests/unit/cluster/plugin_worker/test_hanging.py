"""A plugin that hangs holds up its own Runs, is named, and is left alone until it returns."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from scenes.planners import executed, passing, planning, returned
from scenes.planning import work_of

from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.engine.plugin_work import EvaluateWork, EvaluationInput
from kruntimes_core.framework.runtime import PluginFailure, ScheduleResult
from kruntimes_core.testing.builders import make_pod, make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def test_a_loop_without_end_is_interrupted_and_named() -> None:
    def spinning(pod: Any) -> None:
        while True:
            pass

    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, work_of(fake_plugin("Spinner", filter=spinning)))
        assert isinstance(result, PluginFailure)
        assert (result.error.plugin, result.error.hook) == ("Spinner", "filter")
        assert "longer than the time limit" in result.error.problem
        assert planner.stuck == {}
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), ScheduleResult)

    planning(scene)


def test_a_call_that_does_not_return_is_abandoned_and_its_plugin_left_alone() -> None:
    release = threading.Event()
    asked: list[int] = []

    def hanging(pod: Any) -> None:
        asked.append(1)
        release.wait(30)

    async def scene(planner: ThreadPluginWorker) -> None:
        hung = fake_plugin("Hanger", filter=hanging)
        result = await executed(planner, work_of(hung))
        assert isinstance(result, PluginFailure)
        assert (result.error.plugin, result.error.hook) == ("Hanger", "filter")
        assert planner.stuck == {"Hanger": 1}
        again = await executed(planner, work_of(hung))
        assert isinstance(again, PluginFailure)
        assert "not called until an earlier call returns" in again.error.problem
        assert asked == [1]
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), ScheduleResult)
        release.set()
        await returned(planner)
        assert isinstance(await executed(planner, work_of(hung)), ScheduleResult)
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

    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, work_of(fake_plugin("Stubborn", filter=stubborn)))
        assert isinstance(result, PluginFailure)
        release.set()
        await returned(planner)

    planning(scene)


@pytest.mark.parametrize("rude", [SystemExit(1), KeyboardInterrupt(), GeneratorExit(), RecursionError()])
def test_nothing_that_a_plugin_raises_ends_the_planner(rude: BaseException) -> None:
    def raising(pod: Any) -> None:
        raise rude

    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, work_of(fake_plugin("Rude", filter=raising)))
        assert isinstance(result, PluginFailure)
        assert (result.error.plugin, result.error.hook) == ("Rude", "filter")
        assert isinstance(await executed(planner, work_of(fake_plugin(filter=passing))), ScheduleResult)

    assert "defect of the host" not in planning(scene)


def test_a_defect_of_the_host_ends_one_plan_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    work = work_of(fake_plugin(filter=passing))

    def broken(self: object, runners: object) -> None:
        raise LookupError("boom")

    async def scene(planner: ThreadPluginWorker) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(type(work), "execute", broken)
            result = await executed(planner, work)
        assert isinstance(result, PluginFailure)
        assert "boom" in result.error.problem
        assert planner.stuck == {}
        assert isinstance(await executed(planner, work), ScheduleResult)

    assert planning(scene).count("a plan ended with a defect of the host") == 1


def test_a_plugin_that_exits_its_thread_is_named() -> None:
    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, work_of(fake_plugin("Quitter", filter=lambda pod: sys.exit(1))))
        assert isinstance(result, PluginFailure)
        assert result.error.plugin == "Quitter"

    planning(scene)


def test_a_question_about_the_past_is_bounded_like_a_plan() -> None:
    def spinning(pod: Any) -> None:
        while True:
            pass

    profile = profiles_of(fake_plugin("Odd", filter=spinning)).all[0]
    question = EvaluationInput(run=make_run(), snapshot=make_snapshot(make_pod()))

    async def scene(planner: ThreadPluginWorker) -> None:
        result = await executed(planner, EvaluateWork(profile=profile, inputs=(question,)))
        assert isinstance(result, PluginFailure)
        assert (result.error.plugin, result.error.hook) == ("Odd", "filter")

    planning(scene)
