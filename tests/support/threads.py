"""An async server for tests that are not async: on a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

_SECONDS = 20
T = TypeVar("T")


@contextmanager
def in_thread(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Enter a server on a loop in a thread, and leave it there at the end of the block."""
    started: Future[tuple[T, asyncio.AbstractEventLoop]] = Future()
    ended = asyncio.Event()

    async def serve() -> None:
        async with server as entered:
            started.set_result((entered, asyncio.get_running_loop()))
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    entered, loop = started.result(_SECONDS)
    try:
        yield entered
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(_SECONDS)
