"""Creates the Runs of a load, each at its moment, whether or not those before were placed."""

from __future__ import annotations

import asyncio

from kruntimes_core.lab.bench.live.load import Cell, cell
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.tasks import beside

ROLE = "load"


async def create_load(site: Site, round_number: int, arrivals: list[float]) -> None:
    """Create a Run at each of these moments, in seconds from now; returns when all are created."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with beside(()) as group:
        for number, moment in enumerate(arrivals):
            if began + moment > loop.time():
                await asyncio.sleep(began + moment - loop.time())
            group.create_task(_create(site, round_number, number))


async def _create(site: Site, round_number: int, number: int) -> None:
    where = cell(site.load, number % site.load.pods)
    await site.add_run(where, f"run-{round_number}-{number:06}", ROLE, cohort=_cohort(site, where, number))


def _cohort(site: Site, where: Cell, number: int) -> str | None:
    """Cohorts are of one namespace and Runtime: no Pod could be beside those of another one."""
    if not site.load.cohorts:
        return None
    among = number // site.load.pods
    return f"{where.namespace}-{where.runtime}-{among % site.load.cohorts}"
