"""Informers: all reflectors of a scheduler, each in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from kruntimes_core.cluster.informers.reflector import Reflector

Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Informers:
    """Starts the reflectors, lets them list again, and stops them."""

    def __init__(self, reflectors: Sequence[Reflector]) -> None:
        self._reflectors = reflectors
        self._spawn: Spawn = asyncio.create_task
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def synced(self) -> bool:
        """Whether all is followed, and was listed since `relist` was last called."""
        return all(one.following and one.relisted for one in self._reflectors)

    @property
    def problem(self) -> str:
        """Why something is not followed, in one line; empty if all is."""
        return next((one.problem for one in self._reflectors if one.problem is not None), "")

    def start(self, spawn: Spawn) -> None:
        """List and watch. spawn: takes care of tasks that end with a defect."""
        self._spawn = spawn
        self._tasks = [spawn(one.run()) for one in self._reflectors]

    def relist(self) -> None:
        """List everything now, by lists that begin after this moment.

        The watches end first, so nothing newer than the list is known when it is taken in.
        """
        if not self._tasks:
            return
        self.stop()
        for one in self._reflectors:
            one.expect_relist()
        self.start(self._spawn)

    def stop(self) -> None:
        """List and watch nothing any more."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []
