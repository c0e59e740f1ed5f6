"""A daemon thread that executes work, with answers kept for itself alone.

It is a daemon because a plugin that never returns must not keep the process from ending.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from types import FrameType

from kruntimes_core.cluster.planning.protocol import Task
from kruntimes_core.engine.plugin_work import Runners, WorkResult
from kruntimes_core.framework.plugin_results import InterruptedCallError


def interrupt(thread: Thread) -> None:
    """Raise `InterruptedCallError` in a thread, as soon as it runs Python code."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(InterruptedCallError)
        )


def frame_of(thread: Thread) -> FrameType | None:
    """The innermost frame of a thread."""
    return sys._current_frames().get(thread.ident or 0)


class Handover:
    """One piece of work on its way to a worker, and what came of it on its way back."""

    __slots__ = ("_done", "late", "result", "work")

    def __init__(self, work: Task) -> None:
        self.work = work
        self.result: WorkResult = None
        self.late = False
        """Whether whoever brought the work has gone on, and is to be told of the result."""
        self._done = Lock()
        self._done.acquire()

    def wait(self, seconds: float) -> bool:
        """Whether the result is there; waits so long for it. Called once, by whoever brought the work."""
        if self._done.acquire(timeout=seconds):
            return True
        self.late = True
        # It may have come between the two steps, and then nobody else tells of it.
        return self._done.acquire(blocking=False)

    def finish(self, result: WorkResult) -> None:
        """Give the result. Called on the worker's thread."""
        self.result = result
        self._done.release()


class WorkerThread:
    """Executes one piece of work after another until it is retired or something escapes."""

    def __init__(
        self,
        deliver: Callable[[Handover], None],
        ended: Callable[[WorkerThread, BaseException | None], None],
    ) -> None:
        """deliver, ended: called on this thread; `deliver` with what was finished late, `ended` with what
        escaped, once, at the very end.
        """
        self._deliver = deliver
        self._ended = ended
        self._jobs: SimpleQueue[Handover | None] = SimpleQueue()
        self._retired = False
        self._thread = Thread(target=self._main, name="kruntimes-planner", daemon=True)
        self._thread.start()

    def execute(self, work: Task) -> Handover:
        """Execute work after what was given before."""
        handover = Handover(work)
        self._jobs.put(handover)
        return handover

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
        while not self._retired and (handover := self._jobs.get()) is not None:
            handover.finish(handover.work.execute(runners))
            if handover.late:
                self._deliver(handover)
