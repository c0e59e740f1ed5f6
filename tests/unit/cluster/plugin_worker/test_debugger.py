"""A call that somebody has stopped in a debugger has no time limit, where there is a terminal."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_scenes import executed, planning, work_of

from kruntimes_core.cluster.plugin_thread import AttendedCalls
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.framework.plugin_registry import HangingPluginError
from kruntimes_core.framework.profile import CurrentCall
from kruntimes_core.framework.runtime import PluginFailure, ScheduleResult
from kruntimes_core.testing.plugins import fake_plugin

LIMIT = 0.05


class Terminal(io.StringIO):
    """Standard input, from a terminal or not."""

    def __init__(self, there: bool) -> None:
        super().__init__()
        self.there = there

    def isatty(self) -> bool:
        return self.there


@pytest.fixture
def stop() -> Iterator[tuple[Callable[[], None], threading.Event]]:
    """Waits at the prompt of a debugger, until the event is set."""
    go_on = threading.Event()
    namespace: dict[str, Any] = {"__name__": "pdb", "go_on": go_on}
    exec("def prompt():\n    go_on.wait(30)", namespace)  # noqa: S102 - a function of a module of that name
    yield namespace["prompt"], go_on
    go_on.set()


@pytest.mark.parametrize("there", [True, False])
def test_a_command_waits_at_a_breakpoint(
    there: bool, stop: tuple[Callable[[], None], threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt, go_on = stop
    monkeypatch.setattr(sys, "stdin", Terminal(there))
    current = CurrentCall()

    def build() -> int:
        with current.load("Stopped", "acme 1.0", "constructor"):
            prompt()
        return 1

    calls = AttendedCalls(current, limit_seconds=LIMIT)
    threading.Timer(10 * LIMIT, go_on.set).start()
    if there:
        assert calls.call(build) == 1
    else:
        with pytest.raises(HangingPluginError, match="Stopped"):
            calls.call(build)
    calls.close()


@pytest.mark.parametrize("there", [True, False])
def test_a_scheduler_waits_at_a_breakpoint(
    there: bool, stop: tuple[Callable[[], None], threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt, go_on = stop
    monkeypatch.setattr(sys, "stdin", Terminal(there))

    async def scene(worker: ThreadPluginWorker) -> None:
        asyncio.get_running_loop().call_later(10 * LIMIT, go_on.set)
        result = await executed(worker, work_of(fake_plugin("Stopped", filter=lambda pod: prompt())))
        assert isinstance(result, ScheduleResult if there else PluginFailure)

    planning(scene)


def test_a_process_without_standard_input_has_no_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    current = CurrentCall()

    def build() -> None:
        with current.load("Slow", "acme 1.0", "constructor"):
            time.sleep(20 * LIMIT)

    with pytest.raises(HangingPluginError, match="Slow"):
        AttendedCalls(current, limit_seconds=LIMIT).call(build)
