"""Plugin calls of commands that end, such as `plan`: on a thread of their own, with a time limit.

The main thread watches the calls. Where one hangs, it names the plugin and ends the command. (Nothing helps
against a call that holds the interpreter lock, as in a scheduler.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from kruntimes_core.cluster.plugin_thread import LIMIT_SECONDS, PluginThread, call_on
from kruntimes_core.framework.profile import CurrentCall

T = TypeVar("T")


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
        """The same values, each made on the thread when it is taken. Raises as `call` does."""
        while made := self.call(lambda: tuple(islice(values, 1))):
            yield made[0]

    def close(self) -> None:
        """Call no more: the thread ends as soon as it can."""
        self._thread.retire()
