"""Threads that run the code of plugins, and the naming of the plugin whose call does not return.

A thread that hangs can be interrupted while it runs Python code, and is left behind where that does not help.
(A call that holds the interpreter lock stops the whole process until it returns: no thread can help there.)
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from types import CodeType, FrameType
from typing import Any, NoReturn, TypeVar

from kruntimes_core import __version__
from kruntimes_core.framework.plugin_registry import HangingPluginError
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall, InterruptedCallError, PluginError

T = TypeVar("T")

LIMIT_SECONDS = 5.0
"""For how long a call may run. A plan on thousands of Pods takes milliseconds; this ends what hangs."""
_LOOKS = 20
"""How often a call is looked at within its limit. Looks are counted, not seconds: a process that was stopped
and continued has lost none of its time."""
_DEBUGGERS = frozenset({"bdb", "debugpy", "ipdb", "pdb", "pudb", "pydevd"})

Culprit = tuple[ActivePlugin, str]
"""A plugin and its hook that was called."""


class PluginThread:
    """Executes one job after another until it is retired or an exception escapes.

    The thread is a daemon, because a plugin that never returns must not keep the process from ending.
    """

    def __init__(
        self,
        ended: Callable[[PluginThread, BaseException | None], None] | None = None,
        name: str = "kruntimes-plugin-worker",
    ) -> None:
        """ended: called on this thread with what escaped, once, at the very end."""
        self._ended = ended
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._retired = False
        self._thread = Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    def execute(self, job: Callable[[], None]) -> None:
        """Execute a job after those that were given before."""
        self._jobs.put(job)

    def retire(self) -> None:
        """Take no more jobs after the one under way."""
        self._retired = True
        self._jobs.put(None)

    def interrupt(self) -> None:
        """Raise `InterruptedCallError` in the job, as soon as it runs Python code."""
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(InterruptedCallError)
            )

    @property
    def frame(self) -> FrameType | None:
        """The innermost frame of the job under way."""
        return sys._current_frames().get(self._thread.ident or 0)

    @property
    def in_debugger(self) -> bool:
        """Whether the job is stopped in a debugger, on a terminal."""
        innermost = self.frame
        if innermost is None or sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
            return False
        modules = (str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_stack(innermost))
        return any(module.split(".")[0] in _DEBUGGERS for module in modules)

    def _main(self) -> None:
        escaped: BaseException | None = None
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - an interruption that came late, or a KeyboardInterrupt of a plugin
            escaped = error
        if self._ended is not None:
            self._ended(self, escaped)

    def _work(self) -> None:
        while not self._retired and (job := self._jobs.get()) is not None:
            job()
            del job


# Waiting for what a thread does


def call_on(thread: PluginThread, action: Callable[[], T], current: CurrentCall, limit_seconds: float) -> T:
    """Do something on a thread, and return what it returns. current: where the thread notes its calls.

    Raises what it raises, and `HangingPluginError` that names the plugin whose call does not return.
    """
    results: list[T] = []
    # Not a `Queue`: a Ctrl-C between its lock and its condition leaves it inconsistent. The operations of
    # a `SimpleQueue` are atomic.
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def job() -> None:
        try:
            results.append(action())
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call is awaited
            ended.put(error)
        else:
            ended.put(None)

    thread.execute(job)
    error = _end_of_job(thread, ended, current, limit_seconds)
    if error is not None:
        raise error
    return results[0]


def _end_of_job(
    thread: PluginThread,
    ended: SimpleQueue[BaseException | None],
    current: CurrentCall,
    limit_seconds: float,
) -> BaseException | None:
    """What the job raised, if anything. The limit is that of each call of a plugin, and not of the job."""
    seen, looks = -1, 0
    while True:
        try:
            return ended.get(timeout=limit_seconds / _LOOKS)
        except Empty:
            number, calling = current.number, current.calling
        looks = looks + 1 if calling and number == seen else 0
        seen = number
        if looks == _LOOKS:
            if not thread.in_debugger:
                _give_up(thread, current, limit_seconds)
            looks = 0


def _give_up(thread: PluginThread, current: CurrentCall, limit_seconds: float) -> NoReturn:
    error = overdue(thread, current, limit_seconds)
    thread.interrupt()
    thread.retire()
    raise HangingPluginError(f"{error}; correct, upgrade or disable it")


class AttendedCalls:
    """All plugin calls of one command that ends, such as `plan`, on one thread: it built the instances.

    The main thread watches the calls. Where one hangs, it names the plugin and ends the command.
    """

    def __init__(self, current: CurrentCall, *, limit_seconds: float = LIMIT_SECONDS) -> None:
        """current: where the calls are noted. limit_seconds: how long one may take."""
        self._current = current
        self._limit = limit_seconds
        self._thread = PluginThread(name="kruntimes-plan")

    def call(self, action: Callable[[], T]) -> T:
        """Do what imports, builds or calls plugins, and return what that returns.

        Raises what it raises; `InputError` that names the plugin where a call takes too long.
        """
        return call_on(self._thread, action, self._current, self._limit)

    def values(self, values: Iterator[T]) -> Iterator[T]:
        """The same values, each made on the thread when it is taken. Raises as `call` does."""
        while made := self.call(lambda: tuple(islice(values, 1))):
            yield made[0]

    def close(self) -> None:
        """Call no more: the thread ends as soon as it can."""
        self._thread.retire()


# Whose call it is


def overdue(thread: PluginThread, current: CurrentCall, limit_seconds: float) -> PluginError:
    """The error of the call that a thread is in, which is abandoned."""
    problem = f"did not return within {limit_seconds:g} s: the call is abandoned"
    loading = current.loading
    if loading is not None:
        return PluginError(loading.plugin, loading.origin, loading.step, problem)
    return failure(culprit_in_frame(thread.frame, current.plugins), problem)


def failure(culprit: Culprit | None, problem: str) -> PluginError:
    """The error that names the culprit; the host itself if it was in no plugin's code."""
    if culprit is None:
        return PluginError("PluginWorker", f"kruntimes-core {__version__}", "plan", problem)
    return culprit[0].error(culprit[1], problem)


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
    # The code of a shared decorator belongs to all plugins that use it, and identifies none of them.
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
