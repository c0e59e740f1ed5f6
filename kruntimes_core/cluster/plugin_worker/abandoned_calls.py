"""A call of a plugin that does not return: interrupting it, and naming the plugin whose code it is in.

The stack of the thread says which plugin that is, so that calls themselves carry no book-keeping.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Thread
from types import CodeType, FrameType
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.cluster.plugin_worker.protocol import PluginWork
from kruntimes_core.engine.plugin_work import (
    QueueKeyWork,
    ReserveAnswer,
    ReserveWork,
    UnreserveWork,
    WorkResult,
)
from kruntimes_core.framework.profile import ActivePlugin, InterruptedCallError, PluginError
from kruntimes_core.framework.runtime import PluginFailure

Culprit = tuple[ActivePlugin, str]
"""A plugin and its hook that was called."""


def interrupt(thread: Thread) -> None:
    """Raise `InterruptedCallError` in a thread, as soon as it runs Python code."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(InterruptedCallError)
        )


def frame_of(thread: Thread) -> FrameType | None:
    """The innermost frame of a thread."""
    return sys._current_frames().get(thread.ident or 0)


# Whose call it is


def plugins_of(work: PluginWork) -> tuple[ActivePlugin, ...]:
    """The plugins that a piece of work may call."""
    return (work.plugin,) if isinstance(work, UnreserveWork | QueueKeyWork) else work.profile.plugins


def culprit_in_frame(frame: FrameType | None, plugins: Sequence[ActivePlugin]) -> Culprit | None:
    """The one of these plugins in whose code a thread is now, by its innermost frame."""
    return _culprit((entry.f_code for entry, _ in traceback.walk_stack(frame)), plugins)


def culprit_in_error(error: BaseException, plugins: Sequence[ActivePlugin]) -> Culprit | None:
    """The one of these plugins whose code an exception came through."""
    return _culprit((entry.f_code for entry, _ in traceback.walk_tb(error.__traceback__)), plugins)


def _culprit(codes: Iterable[CodeType], plugins: Sequence[ActivePlugin]) -> Culprit | None:
    owners: dict[CodeType, set[tuple[int, str]]] = {}
    for place, plugin in enumerate(plugins):
        for name, hook in plugin.hooks.items():
            for code in _codes(hook.function):
                owners.setdefault(code, set()).add((place, name))
    # The code of a decorator is that of all plugins which use it, and names none of them.
    named = (owners[code] for code in codes if len(owners.get(code, ())) == 1)
    found = next(named, None)
    if found is None:
        return None
    ((place, name),) = found
    return plugins[place], name


def _codes(function: Callable[..., Any] | None) -> Iterator[CodeType]:
    """The code of a function, and of what it wraps."""
    while function is not None:
        code = getattr(function, "__code__", None)
        if inspect.iscode(code):
            yield code
        function = getattr(function, "__wrapped__", None)


# What follows for the work


def failure(culprit: Culprit | None, problem: str) -> PluginError:
    """The error that names the culprit; the host itself if it was in no plugin's code."""
    if culprit is None:
        return PluginError("Planner", f"kruntimes-core {__version__}", "plan", problem)
    return culprit[0].error(culprit[1], problem)


def overdue(culprit: Culprit | None, limit_seconds: float) -> PluginError:
    """The error of a call that is abandoned."""
    return failure(culprit, f"did not return within {limit_seconds:g} s: the call is abandoned")


def failed(work: PluginWork, error: PluginError) -> WorkResult:
    """The result of work that ended with `error`, in the form that the engine takes."""
    return work.failed(error) if isinstance(work, ReserveWork) else PluginFailure(error)


def not_begun(work: PluginWork, error: PluginError) -> WorkResult:
    """The same for work that called no plugin: for a `reserve` that was not called no `unreserve` is due."""
    return ReserveAnswer((), broken=error) if isinstance(work, ReserveWork) else PluginFailure(error)
