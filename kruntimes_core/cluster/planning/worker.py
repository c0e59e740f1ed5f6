"""Plans beside the loop, with a time limit: a plugin that hangs holds up its own Runs and nothing else.

A call past the limit is interrupted; one that does not return even then is abandoned, named, and
replaced by a fresh worker. (A call that holds the interpreter lock stops the whole process until it
returns: no thread can help against that.)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.planning.blame import (
    Culprit,
    culprit_in_error,
    culprit_in_frame,
    failed,
    failure,
    not_begun,
    overdue,
    plugins_of,
)
from kruntimes_core.cluster.planning.owed import Owed
from kruntimes_core.cluster.planning.patience import MOMENT_SECONDS, Patience
from kruntimes_core.cluster.planning.protocol import LIMIT_SECONDS, Done, Task
from kruntimes_core.cluster.planning.thread import Handover, WorkerThread
from kruntimes_core.engine.work import UnreserveWork, WorkResult
from kruntimes_core.framework.outcomes import InterruptedCallError, PluginError
from kruntimes_core.framework.runner import calls

GRACE_SECONDS = 1.0
"""How long an interrupted call may take to notice."""


@dataclass(slots=True, eq=False)
class _Call:
    work: Task
    done: Done
    worker: WorkerThread
    timer: asyncio.TimerHandle | None = None
    interrupted: bool = False

    def end_timer(self) -> None:
        """It needs no limit any more."""
        if self.timer is not None:
            self.timer.cancel()


class WorkerPlanner:
    """Executes work on a thread, one piece at a time. All methods belong to the loop's thread."""

    def __init__(
        self,
        log: Log,
        *,
        limit_seconds: float = LIMIT_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
        moment_seconds: float = MOMENT_SECONDS,
    ) -> None:
        """limit_seconds, grace_seconds: until a call is interrupted, and until it is given up then.

        moment_seconds: for how long `submit` waits for work at most.
        """
        self._log = log
        self._limit = limit_seconds
        self._grace = grace_seconds
        self._patience = Patience(moment_seconds)
        self._worker: WorkerThread | None = None
        self._call: _Call | None = None
        self._abandoned: dict[WorkerThread, str] = {}
        self._owed = Owed()
        self._paying = False
        """Whether a turn of the loop is on its way that asks the next of what is owed."""

    @property
    def free(self) -> bool:
        """Whether it takes work now."""
        return self._call is None and not self._owed.due

    @property
    def stuck(self) -> Mapping[str, int]:
        """Plugins in whose code calls do not return, with how many."""
        return Counter(self._abandoned.values())

    def submit(self, work: Task, done: Done) -> None:
        """Execute work on the worker, unless it would ask a plugin that is stuck."""
        stuck = self.stuck
        held_up = next((one for one in plugins_of(work) if one.name in stuck), None)
        if held_up is None:
            self._start(work, done)
        elif isinstance(work, UnreserveWork):
            self._owed.defer(work, done)
        else:
            hook = next(iter(held_up.hooks))
            done(not_begun(work, held_up.error(hook, "is not asked until an earlier call returns")))

    def close(self) -> None:
        """Take no more work; a call under way ends with the process."""
        if self._call is not None:
            self._call.end_timer()
        if self._worker is not None:
            self._worker.retire()

    # One call

    def _start(self, work: Task, done: Done) -> None:
        loop = asyncio.get_running_loop()
        if self._worker is None:
            self._worker = self._fresh(loop)
        self._call = call = _Call(work, done, self._worker)
        handover, patience = self._worker.execute(work), self._patience.next()
        if handover.wait(patience):
            self._finish(call, handover.result)
        else:
            self._patience.late(patience)
            call.timer = loop.call_later(self._limit, self._overdue)

    def _fresh(self, loop: asyncio.AbstractEventLoop) -> WorkerThread:
        def tell(what: Callable[..., None], *arguments: object) -> None:
            # Once the loop is closed nobody waits for the answer any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(what, *arguments)

        return WorkerThread(
            lambda handover: tell(self._delivered, handover),
            lambda worker, error: tell(self._ended, worker, error),
        )

    def _overdue(self) -> None:
        call = self._call
        if call is not None:
            call.interrupted = True
            call.worker.interrupt()
            call.timer = asyncio.get_running_loop().call_later(self._grace, self._abandon)

    def _abandon(self) -> None:
        call = self._call
        if call is None:
            return
        culprit = culprit_in_frame(call.worker.frame, plugins_of(call.work))
        error = overdue(culprit, self._limit)
        self._abandoned[call.worker] = error.plugin
        self._log.warning("abandoned a call", plugin=error.plugin, origin=error.origin, hook=error.hook)
        self._owed.sort(self.stuck)
        self._finish(call, failed(call.work, error))

    def _finish(self, call: _Call, result: WorkResult) -> None:
        call.end_timer()
        self._call = None
        if call.interrupted:
            # It may be half-way through anything, and the interruption may still come.
            call.worker.retire()
            self._worker = None
        call.done(result)
        self._pay_next()

    # From the worker

    def _delivered(self, handover: Handover) -> None:
        if self._call is not None and self._call.work is handover.work:
            self._finish(self._call, handover.result)

    def _ended(self, worker: WorkerThread, error: BaseException | None) -> None:
        call = self._call
        if worker is self._worker:
            self._worker = None
        if call is not None and call.worker is worker:
            self._finish(call, failed(call.work, self._escaped(error, call.work)))
        if worker in self._abandoned:
            plugin = self._abandoned.pop(worker)
            self._log.info("an abandoned call returned", plugin=plugin)
            self._owed.sort(self.stuck)
            self._pay_next()

    def _escaped(self, error: BaseException | None, work: Task) -> PluginError:
        """Something came out of a call that nothing may come out of."""
        culprit: Culprit | None = culprit_in_error(error, plugins_of(work)) if error is not None else None
        problem = calls.describe(error) if error is not None else "the worker ended"
        if culprit is None and not isinstance(error, InterruptedCallError):
            self._log.warning("a plan ended with a defect of the host", error=problem)
        return failure(culprit, problem)

    # What is owed

    def _pay_next(self) -> None:
        """Ask the next unreserve that had to wait, in a turn of its own: there may be thousands."""
        if self._owed.due and not self._paying:
            self._paying = True
            asyncio.get_running_loop().call_soon(self._pay)

    def _pay(self) -> None:
        self._paying = False
        if self._owed.due and self._call is None:
            self.submit(*self._owed.due.popleft())
            self._pay_next()
