"""Tasks side by side: the first that fails ends them all, and is the one that is heard of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any


async def together(work: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Do everything at the same time."""
    async with beside(()) as group:
        for one in work:
            group.create_task(one)


@asynccontextmanager
async def beside(endless: Iterable[Coroutine[Any, Any, None]]) -> AsyncIterator[asyncio.TaskGroup]:
    """Let `endless` work go on while the block lasts; what fails in it fails the block."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in endless]
            yield group
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
