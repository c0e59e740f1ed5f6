"""Plays what runtimed does for a Run that was bound: it runs for a while, and succeeds."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.bench.live.api import RefusedError
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.invariants import RunVersion

_GONE = 404


class Runtimed:
    """Executes the Runs that it is given."""

    def __init__(self, site: Site, group: asyncio.TaskGroup) -> None:
        """group: is failed by what fails."""
        self._site = site
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, run: RunVersion) -> None:
        """A Run was seen on its Pod. One that is to stay there just stays."""
        seconds = self._site.load.draw_seconds(run.name)
        if seconds is not None:
            task = self._group.create_task(self._execute(run, seconds))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Leave what runs as it is."""
        for task in self._tasks:
            task.cancel()

    async def _execute(self, run: RunVersion, seconds: float) -> None:
        try:
            await self._site.pods_api.patch_status(RUNS, run.namespace, run.name, objects.running())
            await asyncio.sleep(seconds)
            await self._site.pods_api.patch_status(RUNS, run.namespace, run.name, objects.ended())
        except RefusedError as error:
            # Whoever deletes a Run that runs is found by the judge.
            if error.code != _GONE:
                raise
