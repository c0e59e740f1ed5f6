"""Plugin calls of commands that end, such as `plan`: on a thread of their own, with a time limit.

The main thread watches the calls. Where one hangs, it names the plugin and ends the command. (Nothing helps
against a call that holds the interpreter lock, as in a scheduler.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

from kruntimes_core.cluster.plugin_thread import LIMIT_SECONDS, AttendedThread, End, PluginThread, call_on
from kruntimes_core.framework.profile import CurrentCall

T = TypeVar("T")
_AHEAD = 100
"""How many values are made ahead of their use."""


class AttendedCalls:
    """All calls of plugins of one command, on one thread: an instance is called where it was built."""

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
        """The same values, made on the thread. Raises what the making raises, and as `call`."""
        making = _Making(values)
        self._thread.execute(making.make)
        attended_thread = AttendedThread[T](self._thread, self._current, self._limit)
        try:
            yield from making.taken(attended_thread)
        finally:
            making.leave()

    def close(self) -> None:
        """Call no more: the thread ends as soon as it can."""
        self._thread.retire()


def attended(
    values: Iterator[T], current: CurrentCall, *, limit_seconds: float = LIMIT_SECONDS
) -> Iterator[T]:
    """The same values, made on a thread that ends with them; see `AttendedCalls`."""
    calls = AttendedCalls(current, limit_seconds=limit_seconds)
    try:
        yield from calls.values(values)
    finally:
        calls.close()


class _Making(Generic[T]):
    def __init__(self, values: Iterator[T]) -> None:
        self._source = values
        self._left = False
        # Not a `Queue`: a Ctrl-C between its lock and its condition leaves it inconsistent. The operations of
        # a `SimpleQueue` are atomic.
        self._made: SimpleQueue[T | End] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(_AHEAD):
            self._room.put(None)

    def taken(self, attended_thread: AttendedThread[T]) -> Iterator[T]:
        """The values, one after another."""
        while not isinstance(made := attended_thread.next(self._made), End):
            self._room.put(None)
            yield made
        if made.error is not None:
            raise made.error

    def leave(self) -> None:
        """Take no more values."""
        self._left = True
        self._room.put(None)

    def make(self) -> None:
        """Make the values, on the thread."""
        end = End()
        try:
            for value in self._source:
                self._room.get()
                if self._left:
                    return
                self._made.put(value)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the values are taken
            end = End(error)
        self._made.put(end)
