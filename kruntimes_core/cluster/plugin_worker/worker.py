"""Calls plugins on a thread beside the loop: a plugin that hangs holds up its own Runs and nothing else.

A call past the limit is interrupted; one that does not return even then is abandoned, its plugin named, and
the thread replaced by a fresh one. (A call that holds the interpreter lock stops the whole process until it
returns: no thread can help against that.)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Container, Mapping
from queue import SimpleQueue
from threading import Lock, Thread
from types import FrameType

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_worker.abandoned_calls import (
    Culprit,
    culprit_in_error,
    culprit_in_frame,
    failed,
    failure,
    frame_of,
    interrupt,
    not_begun,
    overdue,
    plugins_of,
)
from kruntimes_core.cluster.plugin_worker.protocol import LIMIT_SECONDS, Done, PluginWork
from kruntimes_core.engine.plugin_work import Runners, UnreserveWork, WorkResult
from kruntimes_core.framework.profile import InterruptedCallError, PluginError
from kruntimes_core.framework.runtime import plugin_calls

GRACE_SECONDS = 1.0
"""How long an interrupted call may take to notice."""
MOMENT_SECONDS = 0.002
"""Most plans take a tenth of that, and being told of their end by a turn of the loop costs more."""
UNATTENDED = 16
"""So many plans are not waited for after one that took longer: those that follow will most likely, too."""


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
        self._call: _Call | None = None
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
            done(not_begun(work, held_up.error(hook, "is not asked until an earlier call returns")))

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
        self._call = call = _Call(work, done, self._thread)
        handoff, wait = self._thread.execute(work), self._wait.next()
        if handoff.wait(wait):
            self._finish(call, handoff.result)
        else:
            self._wait.late(wait)
            call.limit(loop.call_later(self._limit, self._overdue))

    def _fresh(self, loop: asyncio.AbstractEventLoop) -> WorkerThread:
        def tell(what: Callable[..., None], *arguments: object) -> None:
            # Once the loop is closed, nothing waits for the answer any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(what, *arguments)

        return WorkerThread(
            lambda handoff: tell(self._delivered, handoff),
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

    def _finish(self, call: _Call, result: WorkResult) -> None:
        call.end_limit()
        self._call = None
        if call.interrupted:
            # The thread may be half-way through anything, and the interruption may still come.
            call.thread.retire()
            self._thread = None
        call.done(result)
        self._resume_soon()

    # From the thread

    def _delivered(self, handoff: Handoff) -> None:
        if self._call is not None and self._call.work is handoff.work:
            self._finish(self._call, handoff.result)

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
        """An exception left a call that catches all exceptions of plugins."""
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


class _Call:
    """Work under way, with the timer of its limit."""

    __slots__ = ("_timer", "done", "interrupted", "thread", "work")

    def __init__(self, work: PluginWork, done: Done, thread: WorkerThread) -> None:
        self.work = work
        self.done = done
        self.thread = thread
        self.interrupted = False
        self._timer: asyncio.TimerHandle | None = None

    def interrupt(self) -> None:
        """Raise in the call."""
        self.interrupted = True
        self.thread.interrupt()

    def limit(self, timer: asyncio.TimerHandle) -> None:
        """Let this timer end the call, unless it ends before."""
        self._timer = timer

    def end_limit(self) -> None:
        """The call needs no limit any more."""
        if self._timer is not None:
            self._timer.cancel()


class AdaptiveWait:
    """How long the loop waits for each plan before it goes on and lets itself be told of the result.

    Waiting for longer than plans take keeps the loop from its work.
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


class Handoff:
    """One piece of work on its way to the thread, and its result on the way back."""

    __slots__ = ("_done", "late", "result", "work")

    def __init__(self, work: PluginWork) -> None:
        self.work = work
        self.result: WorkResult = None
        self.late = False
        """Whether the loop has gone on, and is to be told of the result."""
        self._done = Lock()
        self._done.acquire()

    def wait(self, seconds: float) -> bool:
        """Whether the result is there within so long. Called once, on the loop's thread."""
        if self._done.acquire(timeout=seconds):
            return True
        self.late = True
        # The result may have come between the two steps, and then the thread does not tell of it.
        return self._done.acquire(blocking=False)

    def finish(self, result: WorkResult) -> None:
        """Give the result. Called on the worker's thread."""
        self.result = result
        self._done.release()


class WorkerThread:
    """Executes one piece of work after another until it is retired or an exception escapes.

    The thread is a daemon, because a plugin that never returns must not keep the process from ending.
    """

    def __init__(
        self,
        deliver: Callable[[Handoff], None],
        ended: Callable[[WorkerThread, BaseException | None], None],
    ) -> None:
        """deliver, ended: called on this thread; `deliver` with what was finished late, `ended` with what
        escaped, once, at the very end.
        """
        self._deliver = deliver
        self._ended = ended
        self._jobs: SimpleQueue[Handoff | None] = SimpleQueue()
        self._retired = False
        self._thread = Thread(target=self._main, name="kruntimes-planner", daemon=True)
        self._thread.start()

    def execute(self, work: PluginWork) -> Handoff:
        """Execute work after what was given before."""
        handoff = Handoff(work)
        self._jobs.put(handoff)
        return handoff

    def retire(self) -> None:
        """Take no more work after the call under way."""
        self._retired = True
        self._jobs.put(None)

    def interrupt(self) -> None:
        """Raise `InterruptedCallError` in the call under way, as soon as it runs Python code."""
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
        while not self._retired and (handoff := self._jobs.get()) is not None:
            handoff.finish(handoff.work.execute(runners))
            if handoff.late:
                self._deliver(handoff)
