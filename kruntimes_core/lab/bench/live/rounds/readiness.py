"""Whether a scheduler places Runs, found out by giving it one."""

from __future__ import annotations

from kruntimes_core.lab.bench.live.made.clearing import remove_runs
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.settings import Waits
from kruntimes_core.model.messages import InputError

ROLE = "probe"


async def check_nobody_else(site: Site, seconds: float) -> None:
    """Raises `InputError` if some scheduler of the cluster places a Run before the bench starts one.

    seconds: how long it may take to do so.
    """
    if await _is_placed(site, seconds):
        raise InputError(
            "a scheduler that the bench did not start places Runs on this server: stop it, or measure it with"
            " --no-scheduler or --scheduler-pid PID"
        )


async def wait_until_ready(site: Site, seconds: float, waits: Waits) -> bool:
    """Wait until a Run is placed, and then until nothing more is written to those that wait.

    Returns whether that came. Raises `InputError` if the Run is not placed within `seconds`.
    """
    if not await _is_placed(site, seconds):
        raise InputError(
            f"nothing placed a Run within {seconds:g} s: does the scheduler run, and on this server?"
        )
    return await site.observer.quiet(waits.quiet, waits.longest_quiet)


async def _is_placed(site: Site, seconds: float) -> bool:
    where = site.cells[0]
    await site.add_run(where, ROLE, ROLE)
    key = site.namespace(where), ROLE
    placed = await site.observer.until(
        lambda: key in site.observer.runs and bool(site.observer.runs[key].pod_uid), seconds
    )
    await remove_runs(site, ROLE)
    return placed
