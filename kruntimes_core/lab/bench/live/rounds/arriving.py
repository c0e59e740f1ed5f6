"""Creates the Runs of a load, each at its moment, whether or not those before were placed."""

from __future__ import annotations

import asyncio
from collections import Counter

from kruntimes_core.lab.bench.live.load import Cell, Load, cell
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.tasks import beside

ROLE = "load"


async def create_load(site: Site, round_number: int, arrivals: list[float]) -> None:
    """Create a Run at each of these moments, in seconds from now; returns when all are created."""
    loop = asyncio.get_running_loop()
    began, there = loop.time(), Counter[Cell]()
    async with beside(()) as group:
        for number, moment in enumerate(arrivals):
            if began + moment > loop.time():
                await asyncio.sleep(began + moment - loop.time())
            where = cell(site.load, number % site.load.pods)
            cohort = _cohort(site.load, where, there[where])
            there[where] += 1
            group.create_task(site.add_run(where, f"run-{round_number}-{number:06}", ROLE, cohort=cohort))


def _cohort(load: Load, where: Cell, before: int) -> str | None:
    """Cohorts are of one namespace and Runtime: no Pod could be beside those of another one.

    before: how many Runs came there before.
    """
    return f"{where.namespace}-{where.runtime}-{before % load.cohorts}" if load.cohorts else None
