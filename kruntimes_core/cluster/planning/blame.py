"""Whose code a call is in: by its stack, so that calls themselves carry no book-keeping."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from types import CodeType, FrameType

from kruntimes_core import __version__
from kruntimes_core.cluster.planning.protocol import Task
from kruntimes_core.engine.cycle.work import KeyWork, ReserveAnswer, ReserveWork, Result, UnreserveWork
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import Broken

Culprit = tuple[ActivePlugin, str]
"""A plugin and the hook that was asked."""


def plugins_of(work: Task) -> tuple[ActivePlugin, ...]:
    """The plugins that a piece of work may ask."""
    if isinstance(work, UnreserveWork):
        return (work.due.plugin,)
    return (work.plugin,) if isinstance(work, KeyWork) else work.profile.plugins


def culprit_in_frame(frame: FrameType | None, work: Task) -> Culprit | None:
    """The plugin in whose code a thread is now, by its innermost frame."""
    return _culprit((entry.f_code for entry, _ in traceback.walk_stack(frame)), work)


def culprit_in_error(error: BaseException, work: Task) -> Culprit | None:
    """The plugin whose code an exception came through."""
    return _culprit((entry.f_code for entry, _ in traceback.walk_tb(error.__traceback__)), work)


def _culprit(codes: Iterable[CodeType], work: Task) -> Culprit | None:
    owners = {
        getattr(hook.function, "__code__", None): (plugin, name)
        for plugin in plugins_of(work)
        for name, hook in plugin.hooks.items()
    }
    return next((owners[code] for code in codes if code in owners), None)


def failure(culprit: Culprit | None, problem: str) -> PluginError:
    """The error that names the culprit; the host itself if it was in no plugin's code."""
    if culprit is None:
        return PluginError("Planner", f"kruntimes-core {__version__}", "plan", problem)
    return culprit[0].error(culprit[1], problem)


def failed(work: Task, error: PluginError) -> Result:
    """What a piece of work comes to that ended with `error`, in the form that the engine takes.

    A plugin whose `reserve` was asked is owed an `unreserve`, a broken one included.
    """
    if not isinstance(work, ReserveWork):
        return Broken(error)
    asked: list[ActivePlugin] = []
    reserving = [plugin for plugin in work.profile.plugins if "reserve" in plugin.hooks]
    if any(plugin.name == error.plugin for plugin in reserving) and error.hook == "reserve":
        names = [plugin.name for plugin in reserving]
        asked = reserving[: names.index(error.plugin) + 1]
    return ReserveAnswer(tuple(asked), broken=error)
