"""Takes away what a bench made. It deletes in namespaces of the bench, and nowhere else."""

from __future__ import annotations

import asyncio
import time

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.lab.bench.live.api import NAMESPACES
from kruntimes_core.lab.bench.live.made.objects import BENCH_LABEL, ROLE_LABEL
from kruntimes_core.lab.bench.live.made.site import Site
from kruntimes_core.lab.bench.live.tasks import together

_PAUSE_SECONDS = 0.25


async def remove_runs(site: Site, role: str) -> None:
    """Delete the Runs of a role, and wait until that is seen."""
    query = (("labelSelector", f"{ROLE_LABEL}={role}"),)
    with site.observer.clearing():
        await together(site.api.delete_all(RUNS, name, query) for name in site.namespaces)
        await site.observer.until(
            lambda: all(run.labels.get(ROLE_LABEL) != role for run in site.observer.runs.values())
        )


async def remove_pods(site: Site) -> None:
    """Delete all Pods, and wait until that is seen."""
    with site.observer.clearing():
        await together(site.api.delete_all(PODS, name) for name in site.namespaces)
        await site.observer.until(lambda: not site.observer.pods)
    site.pods.clear()


async def remove_everything(site: Site, seconds: float) -> list[str]:
    """Delete all objects and the namespaces; returns those whose deletion nobody finishes here.

    That takes a controller manager, which the API server of a test has not. They are empty then.
    seconds: how long one may take. Raises `InputError` for objects that stay, as by a finalizer; all else
    is gone then.
    """
    left = await site.api.names(NAMESPACES, (("labelSelector", f"{BENCH_LABEL}={site.bench}"),))
    with site.observer.clearing():
        try:
            for resource in (PODS, RUNS):
                await together(site.api.delete_all(resource, name) for name in left)
        finally:
            await together(site.api.delete(NAMESPACES, None, name) for name in left)
    given_up_at = time.monotonic() + seconds
    while left := [name for name in left if await _is_there(site, name)]:
        if time.monotonic() >= given_up_at:
            break
        await asyncio.sleep(_PAUSE_SECONDS)
    return left


async def _is_there(site: Site, name: str) -> bool:
    return (await site.api.get(NAMESPACES.path(None, name))).status != 404
