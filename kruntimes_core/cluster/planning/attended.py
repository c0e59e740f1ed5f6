"""Plans of commands that ask and end: a thread of its own asks the plugins, and the command's looks after it.

A command has no loop that could go on beside a call that hangs, and nothing to go on with: it says whose
call that is, and ends. (A call that holds the interpreter lock cannot be helped, as with a scheduler.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from kruntimes_core.cluster.planning.blame import culprit_in_frame, overdue, plugins_of
from kruntimes_core.cluster.planning.protocol import LIMIT_SECONDS, Task
from kruntimes_core.cluster.planning.thread import frame_of, interrupt
from kruntimes_core.engine.plugin_work import Runners, WorkResult
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.messages import InputError

T = TypeVar("T")
_AHEAD = 100
"""So many values are made before somebody takes them."""
_LOOKS = 20
"""A call is looked at so often until its time is up. Looks are counted, not seconds: a process that was
stopped and goes on later has lost nothing."""


class UnderWay:
    """Which plugins are being asked. One thread asks, another one looks. It costs two numbers a call."""

    def __init__(self) -> None:
        self.plugins: Sequence[ActivePlugin] = ()
        """Those that may be asked by the call under way; none between two calls."""
        self.number = 0
        """Of that call."""

    def execute(self, work: Task, runners: Runners) -> WorkResult:
        """Execute work, and say so meanwhile."""
        self.number += 1
        self.plugins = plugins_of(work)
        result: WorkResult = work.execute(runners)
        self.plugins = ()
        return result

    def ask(self, plugins: Sequence[ActivePlugin], question: Callable[[], T]) -> T:
        """Do anything else that asks these plugins, and say so meanwhile."""
        self.number += 1
        self.plugins = plugins
        answer = question()
        self.plugins = ()
        return answer


def attended(
    values: Iterator[T], under_way: UnderWay, *, limit_seconds: float = LIMIT_SECONDS
) -> Iterator[T]:
    """The same values, made on a thread that does not keep the process from ending.

    under_way: what the making of them notes its calls in. limit_seconds: how long a call may take.
    Raises: what the making raises; `InputError` that names the plugin where a call takes too long.
    """
    attendant = _Attendant(values, under_way, limit_seconds)
    try:
        yield from attendant.values()
    finally:
        attendant.leave()


@dataclass(frozen=True, slots=True)
class _End:
    """No more values come: `error` was raised, if any."""

    error: BaseException | None = None


class _Attendant(Generic[T]):
    def __init__(self, values: Iterator[T], under_way: UnderWay, limit_seconds: float) -> None:
        self._source = values
        self._under_way = under_way
        self._limit = limit_seconds
        self._left = False
        # Not a `Queue`: a Ctrl-C that comes between its lock and its condition leaves it in no order. These
        # are whole steps of the interpreter.
        self._made: SimpleQueue[T | _End] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(_AHEAD):
            self._room.put(None)
        self._thread = Thread(target=self._make, name="kruntimes-plan", daemon=True)
        self._thread.start()

    def values(self) -> Iterator[T]:
        """See `attended`."""
        while not isinstance(made := self._next(), _End):
            self._room.put(None)
            yield made
        if made.error is not None:
            raise made.error

    def leave(self) -> None:
        """Take no more values: the thread ends as soon as it can."""
        self._left = True
        self._room.put(None)

    def _next(self) -> T | _End:
        seen, looks = -1, 0
        while True:
            try:
                return self._made.get(timeout=self._limit / _LOOKS)
            except Empty:
                number = self._under_way.number
                asks = bool(self._under_way.plugins)
            looks = looks + 1 if asks and number == seen else 0
            seen = number
            if looks == _LOOKS:
                self._give_up()

    def _give_up(self) -> None:
        culprit = culprit_in_frame(frame_of(self._thread), self._under_way.plugins)
        self._left = True
        interrupt(self._thread)
        raise InputError(f"{overdue(culprit, self._limit)}; correct, upgrade or disable it")

    def _make(self) -> None:
        end = _End()
        try:
            for value in self._source:
                self._room.get()
                if self._left:
                    return
                self._made.put(value)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the values are taken
            end = _End(error)
        self._made.put(end)
