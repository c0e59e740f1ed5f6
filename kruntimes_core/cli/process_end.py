"""The end of the process: what plugins left running gets a few seconds, and is named if it does not end then.

When a process ends, Python waits for threads that are no daemons, for pools, for the processes of
`multiprocessing` and for the handlers of `atexit`, for each of them without a limit.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from kruntimes_core.cli.output.text import printable
from kruntimes_core.cli.plugin_owners import HOST, Function, PluginOwners, function_of, package_of

if TYPE_CHECKING:
    import asyncio


GRACE_SECONDS = 3.0
"""How long what was left may take to end."""
_TELL_SECONDS = 1.0
"""For the line that names what was left: standard error may block."""
_POOLS = ("concurrent.futures.process.", "concurrent.futures.thread.")
_LOOP = ("asyncio.base_events", "BaseEventLoop.run_forever")

Tell = Callable[[Sequence[str]], None]
"""Says what did not end. Called on a thread of its own."""


class ProcessEnd:
    """Ends the process some time after its work is done, with the exit code of that work.

    Until then, all ends as Python does it, handlers of `atexit` included.
    """

    def __init__(self) -> None:
        self._code = 0
        self._begun = False
        self._told = threading.Event()

    def begin(self, code: int, tell: Tell | None = None) -> None:
        """The work is done, and all output was written. Of two calls, the first one begins the time.

        code: the exit code; that of the last call counts. tell: None for a line on standard error.
        """
        self._code = code
        if self._begun:
            return
        self._begun = True
        # Both now: a process that ends starts no threads. There may be no more of them, though.
        with suppress(RuntimeError):
            for work in (lambda: self._tell(tell or _note), self._end):
                threading.Thread(target=work, name="kruntimes-end", daemon=True).start()

    def _tell(self, tell: Tell) -> None:
        time.sleep(GRACE_SECONDS)
        try:
            if left := left_running():
                tell(left)
        finally:
            self._told.set()

    def _end(self) -> None:
        self._told.wait(GRACE_SECONDS + _TELL_SECONDS)
        for process in _processes():
            process.terminate()
        os._exit(self._code)


def _note(left: Sequence[str]) -> None:
    line = f"ends without waiting any longer for {'; '.join(left)}: let plugins end what they start"
    os.write(2, f"{printable(line)}\n".encode("utf-8", "backslashreplace"))


# What is left


def left_running() -> list[str]:
    """What keeps the process from ending: threads, processes, and a handler that the main thread calls."""
    frames, owners, main = sys._current_frames(), PluginOwners(), threading.main_thread()
    left = [
        f"thread {thread.name} in {owners.place(_stack(frames.get(thread.ident or 0))) or _target(thread)}"
        for thread in threading.enumerate()
        if thread is not main and _is_awaited(thread)
    ]
    # What a process was started with is not known any more.
    left += [f"process {process.pid} ({process.name})" for process in _processes()]
    doing = [one for one in _stack(frames.get(main.ident or 0)) if one[0] != "threading"]
    handler = owners.place(doing)
    if handler is None and doing and not left:
        handler = ".".join(doing[0])
    if handler is not None and not any(package_of(module) == HOST for module, _ in doing):
        left.append(f"the exit handler {handler}")
    return left


def _is_awaited(thread: threading.Thread) -> bool:
    """Whether Python waits for a thread: those of pools are daemons where a daemon made the pool."""
    return not thread.daemon or _target(thread).startswith(_POOLS)


def _processes() -> list[Any]:
    """The processes of `multiprocessing` that run."""
    module = sys.modules.get("multiprocessing.process")
    return module.active_children() if module is not None else []


def _target(thread: threading.Thread) -> str:
    """What a thread was started with."""
    function = getattr(thread, "_target", None) or type(thread).run
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{getattr(function, '__module__', None)}.{name}"


def _stack(innermost: FrameType | None) -> Iterator[Function]:
    """The functions that a thread is in, the innermost first, and those of the tasks of its loop."""
    # Without a frame it would walk its own.
    for frame, _ in traceback.walk_stack(innermost) if innermost is not None else ():
        function = function_of(frame)
        if function == _LOOP:
            yield from _tasks(frame.f_locals["self"])
        yield function


def _tasks(loop: asyncio.AbstractEventLoop) -> Iterator[Function]:
    """What the tasks of a loop were made of."""
    for task in sys.modules["asyncio"].all_tasks(loop):
        if (frame := getattr(task.get_coro(), "cr_frame", None)) is not None:
            yield function_of(frame)
