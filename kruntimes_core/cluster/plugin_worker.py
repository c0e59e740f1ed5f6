"""The plugin worker: calls plugins on a thread beside the loop. One that hangs holds up its own Runs alone.

A call past the limit is interrupted; one that does not return even then is abandoned, its plugin named by the
stack of the thread, and the thread replaced by a fresh one. (A call that holds the interpreter lock stops the
whole process until it returns: no thread can help against that.)
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import inspect
import sys
import traceback
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from queue import SimpleQueue
from threading import Lock, Thread
from types import CodeType, FrameType
from typing import Any, Protocol

from kruntimes_core import __version__
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine.plugin_work import (
    EvaluateWork,
    QueueKeyWork,
    ReserveAnswer,
    ReserveWork,
    Runners,
    UnreserveWork,
    Work,
    WorkResult,
)
from kruntimes_core.framework.profile import ActivePlugin, InterruptedCallError, PluginError
from kruntimes_core.framework.runtime import PluginFailure, plugin_calls

PluginWork = Work | EvaluateWork
"""What runs the code of plugins: a step of a cycle, or an evaluation."""

LIMIT_SECONDS = 5.0
"""For how long work may run. A plan on thousands of Pods takes milliseconds; this ends what never returns."""

Culprit = tuple[ActivePlugin, str]
"""A plugin and its hook that was called."""

Done = Callable[[WorkResult], None]
"""Takes the result of a piece of work, on the thread of the loop."""

GRACE_SECONDS = 1.0
"""How long an interrupted call may take to notice."""
MOMENT_SECONDS = 0.002
"""How long the loop waits for a plan. Most take a tenth of that; a callback in another turn costs more."""
UNATTENDED = 16
"""After a plan that took longer, the loop does not wait for so many: most likely they take longer, too."""


class PluginWorker(Protocol):
    """Executes one piece of work at a time."""

    @property
    def free(self) -> bool:
        """Whether it takes work now."""

    @property
    def stuck(self) -> Mapping[str, int]:
        """Plugins in whose code a call does not return, with how many such calls; they are not called."""

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work and call `done` once, at once or later. Only while it is `free`."""

    def close(self) -> None:
        """Take no more work, and wait for none."""


class ThreadPluginWorker:
    """Executes work on a thread, one piece at a time. All methods belong to the loop's thread."""

    def __init__(
        self,
        log: Log,
        *,
        limit_seconds: float = LIMIT_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
        moment_seconds: float = MOMENT_SECONDS,
    ) -> None:
        """limit_seconds, grace_seconds: until a call is interrupted, and until it is abandoned then.

        moment_seconds: for how long `submit` waits for work at most.
        """
        self._log = log
        self._limit = limit_seconds
        self._grace = grace_seconds
        self._wait = AdaptiveWait(moment_seconds)
        self._thread: WorkerThread | None = None
        self._call: PluginCall | None = None
        self._abandoned: dict[WorkerThread, str] = {}
        self._deferred = DeferredUnreserves()
        self._resuming = False
        """Whether the next deferred unreserve is called in a turn of the loop that is scheduled already."""

    @property
    def free(self) -> bool:
        """Whether it takes work now."""
        return self._call is None and not self._deferred.due

    @property
    def stuck(self) -> Mapping[str, int]:
        """Plugins in whose code calls do not return, with how many."""
        return Counter(self._abandoned.values())

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work on the thread, unless it would call a plugin that is stuck."""
        stuck = self.stuck
        held_up = next((one for one in plugins_of(work) if one.name in stuck), None)
        if held_up is None:
            self._start(work, done)
        elif isinstance(work, UnreserveWork):
            self._deferred.add(work, done)
        else:
            hook = next(iter(held_up.hooks))
            done(not_begun(work, held_up.error(hook, "is not called until an earlier call returns")))

    def close(self) -> None:
        """Take no more work; a call under way ends with the process."""
        if self._call is not None:
            self._call.end_limit()
        if self._thread is not None:
            self._thread.retire()

    # One call

    def _start(self, work: PluginWork, done: Done) -> None:
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = self._fresh(loop)
        self._call = call = PluginCall(work, done, self._thread)
        self._thread.execute(call)
        wait = self._wait.next()
        if call.wait(wait):
            self._finish(call, call.result)
        else:
            self._wait.late(wait)
            call.limit(loop.call_later(self._limit, self._overdue))

    def _fresh(self, loop: asyncio.AbstractEventLoop) -> WorkerThread:
        def tell(what: Callable[..., None], *arguments: object) -> None:
            # Once the loop is closed, nothing waits for the result.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(what, *arguments)

        return WorkerThread(
            lambda call: tell(self._delivered, call),
            lambda thread, error: tell(self._ended, thread, error),
        )

    def _overdue(self) -> None:
        if self._call is not None:
            self._call.interrupt()
            self._call.limit(asyncio.get_running_loop().call_later(self._grace, self._abandon))

    def _abandon(self) -> None:
        call = self._call
        if call is None:
            return
        culprit = culprit_in_frame(call.thread.frame, plugins_of(call.work))
        error = overdue(culprit, self._limit)
        self._abandoned[call.thread] = error.plugin
        self._log.warning("abandoned a call", plugin=error.plugin, origin=error.origin, hook=error.hook)
        self._deferred.sort(self.stuck)
        self._finish(call, failed(call.work, error))

    def _finish(self, call: PluginCall, result: WorkResult) -> None:
        call.end_limit()
        self._call = None
        if call.interrupted:
            # The thread may be half-way through anything, and the interruption may still come.
            call.thread.retire()
            self._thread = None
        call.done(result)
        self._resume_soon()

    # From the thread

    def _delivered(self, call: PluginCall) -> None:
        if self._call is call:
            self._finish(call, call.result)

    def _ended(self, thread: WorkerThread, error: BaseException | None) -> None:
        call = self._call
        if thread is self._thread:
            self._thread = None
        if call is not None and call.thread is thread:
            self._finish(call, failed(call.work, self._escaped(error, call.work)))
        if thread in self._abandoned:
            plugin = self._abandoned.pop(thread)
            self._log.info("an abandoned call returned", plugin=plugin)
            self._deferred.sort(self.stuck)
            self._resume_soon()

    def _escaped(self, error: BaseException | None, work: PluginWork) -> PluginError:
        """The error for an exception that escaped, although a call catches all exceptions of plugins."""
        culprit: Culprit | None = culprit_in_error(error, plugins_of(work)) if error is not None else None
        problem = plugin_calls.describe(error) if error is not None else "the worker ended"
        if culprit is None and not isinstance(error, InterruptedCallError):
            self._log.warning("a plan ended with a defect of the host", error=problem)
        return failure(culprit, problem)

    # Deferred unreserves

    def _resume_soon(self) -> None:
        """Call the next unreserve that had to wait, in a turn of its own: there may be thousands."""
        if self._deferred.due and not self._resuming:
            self._resuming = True
            asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        self._resuming = False
        if self._deferred.due and self._call is None:
            self.submit(*self._deferred.pop())
            self._resume_soon()


class AdaptiveWait:
    """How long the loop waits for each plan before it goes on and gets the result by a callback.

    Waiting for a plan that takes long would keep the loop from its work.
    """

    def __init__(self, moment_seconds: float = MOMENT_SECONDS) -> None:
        """moment_seconds: the longest to wait for one plan."""
        self._moment = moment_seconds
        self._unattended = 0

    def next(self) -> float:
        """Seconds to wait for the next plan."""
        if not self._unattended:
            return self._moment
        self._unattended -= 1
        return 0.0

    def late(self, waited: float) -> None:
        """A plan was not done in the time that `next` gave."""
        if waited:
            self._unattended = UNATTENDED


class DeferredUnreserves:
    """Unreserves whose plugin is stuck: each is called exactly once, as soon as its plugin can be called."""

    def __init__(self) -> None:
        self._due: deque[tuple[UnreserveWork, Done]] = deque()
        self._waiting: list[tuple[UnreserveWork, Done]] = []

    @property
    def due(self) -> bool:
        """Whether there is one whose plugin can be called now."""
        return bool(self._due)

    def add(self, work: UnreserveWork, done: Done) -> None:
        """Keep one whose plugin is stuck."""
        self._waiting.append((work, done))

    def pop(self) -> tuple[UnreserveWork, Done]:
        """Take the next one that is due."""
        return self._due.popleft()

    def sort(self, stuck: Container[str]) -> None:
        """Find out which are due. stuck: names of the plugins that cannot be called now."""
        kept = [*self._due, *self._waiting]
        self._due.clear()
        self._waiting.clear()
        for work, done in kept:
            queue = self._waiting if work.plugin.name in stuck else self._due
            queue.append((work, done))


# The thread


class PluginCall:
    """One piece of work on its way to the thread, and its result on the way back."""

    __slots__ = ("_finished", "_timer", "done", "interrupted", "late", "result", "thread", "work")

    def __init__(self, work: PluginWork, done: Done, thread: WorkerThread) -> None:
        self.work = work
        self.done = done
        self.thread = thread
        self.result: WorkResult = None
        self.late = False
        """Whether the loop has gone on, so that the thread delivers the result."""
        self.interrupted = False
        self._timer: asyncio.TimerHandle | None = None
        self._finished = Lock()
        self._finished.acquire()

    def wait(self, seconds: float) -> bool:
        """Whether the result is there within so long. Called once, on the loop's thread."""
        if self._finished.acquire(timeout=seconds):
            return True
        self.late = True
        # The result may have come between the two steps, and then the thread does not deliver it.
        return self._finished.acquire(blocking=False)

    def limit(self, timer: asyncio.TimerHandle) -> None:
        """Let this timer end the call, unless it ends before."""
        self._timer = timer

    def end_limit(self) -> None:
        """The call needs no limit any more."""
        if self._timer is not None:
            self._timer.cancel()

    def interrupt(self) -> None:
        """Raise `InterruptedCallError` in the call, as soon as it runs Python code."""
        self.interrupted = True
        self.thread.interrupt()

    def finish(self, result: WorkResult) -> None:
        """Give the result. Called on the worker's thread."""
        self.result = result
        self._finished.release()


class WorkerThread:
    """Executes one piece of work after another until it is retired or an exception escapes.

    The thread is a daemon, because a plugin that never returns must not keep the process from ending.
    """

    def __init__(
        self,
        deliver: Callable[[PluginCall], None],
        ended: Callable[[WorkerThread, BaseException | None], None],
    ) -> None:
        """deliver, ended: called on this thread; `deliver` with what was finished late, `ended` with what
        escaped, once, at the very end.
        """
        self._deliver = deliver
        self._ended = ended
        self._jobs: SimpleQueue[PluginCall | None] = SimpleQueue()
        self._retired = False
        self._thread = Thread(target=self._main, name="kruntimes-plugin-worker", daemon=True)
        self._thread.start()

    def execute(self, call: PluginCall) -> None:
        """Execute its work after what was given before."""
        self._jobs.put(call)

    def retire(self) -> None:
        """Take no more work after the call under way."""
        self._retired = True
        self._jobs.put(None)

    def interrupt(self) -> None:
        """See `PluginCall`."""
        interrupt(self._thread)

    @property
    def frame(self) -> FrameType | None:
        """The innermost frame of the call under way."""
        return frame_of(self._thread)

    def _main(self) -> None:
        escaped: BaseException | None = None
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - an interruption that came late, or a KeyboardInterrupt of a plugin
            escaped = error
        self._ended(self, escaped)

    def _work(self) -> None:
        runners = Runners()
        while not self._retired and (call := self._jobs.get()) is not None:
            call.finish(call.work.execute(runners))
            if call.late:
                self._deliver(call)


# Abandoned calls


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
    if isinstance(work, UnreserveWork):
        return (work.plugin,)
    return (work.plugin,) if isinstance(work, QueueKeyWork) else work.profile.plugins


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


# What follows for the work


def failure(culprit: Culprit | None, problem: str) -> PluginError:
    """The error that names the culprit; the host itself if it was in no plugin's code."""
    if culprit is None:
        return PluginError("PluginWorker", f"kruntimes-core {__version__}", "plan", problem)
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
