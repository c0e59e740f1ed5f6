"""Plugin calls of commands that end, such as `plan`: on a thread of their own, with a time limit.

The main thread watches the calls. Where one hangs, it names the plugin and ends the command. (Nothing helps
against a call that holds the interpreter lock, as in a scheduler.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from kruntimes_core.cluster.plugin_worker import (
    LIMIT_SECONDS,
    PluginWork,
    culprit_in_frame,
    frame_of,
    interrupt,
    overdue,
    plugins_of,
)
from kruntimes_core.engine.plugin_work import Runners, WorkResult
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.messages import InputError

T = TypeVar("T")
_AHEAD = 100
"""How many values are made ahead of their use."""
_LOOKS = 20
"""How often a call is looked at within its limit. Looks are counted, not seconds: a process that was stopped
and continued has lost none of its time."""


class CurrentCall:
    """Which plugins are being called, noted by one thread and read by another."""

    def __init__(self) -> None:
        self.plugins: Sequence[ActivePlugin] = ()
        """Those that the current call may run; none between two calls."""
        self.number = 0
        """Of that call."""

    def execute(self, work: PluginWork, runners: Runners) -> WorkResult:
        """Execute work, and note so meanwhile."""
        result: WorkResult = self.call(plugins_of(work), lambda: work.execute(runners))
        return result

    def call(self, plugins: Sequence[ActivePlugin], action: Callable[[], T]) -> T:
        """Do anything else that calls these plugins, and note so meanwhile."""
        self.number += 1
        self.plugins = plugins
        result = action()
        self.plugins = ()
        return result


def attended(
    values: Iterator[T], current: CurrentCall, *, limit_seconds: float = LIMIT_SECONDS
) -> Iterator[T]:
    """The same values, made on a thread that does not keep the process from ending.

    current: where the making of them notes its calls. limit_seconds: how long a call may take.
    Raises: what the making raises; `InputError` that names the plugin where a call takes too long.
    """
    attendant = _Attendant(values, current, limit_seconds)
    try:
        yield from attendant.values()
    finally:
        attendant.leave()


@dataclass(frozen=True, slots=True)
class _End:
    """No more values come: `error` was raised, if any."""

    error: BaseException | None = None


class _Attendant(Generic[T]):
    def __init__(self, values: Iterator[T], current: CurrentCall, limit_seconds: float) -> None:
        self._source = values
        self._current = current
        self._limit = limit_seconds
        self._left = False
        # Not a `Queue`: a Ctrl-C between its lock and its condition leaves it inconsistent. The operations of
        # a `SimpleQueue` are atomic.
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
                number = self._current.number
                calling = bool(self._current.plugins)
            looks = looks + 1 if calling and number == seen else 0
            seen = number
            if looks == _LOOKS:
                self._give_up()

    def _give_up(self) -> None:
        culprit = culprit_in_frame(frame_of(self._thread), self._current.plugins)
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
