"""What is there beside the load, and must not slow it down."""

from __future__ import annotations

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.bench.live.load import Cell
from kruntimes_core.lab.bench.live.made import objects
from kruntimes_core.lab.bench.live.made.objects import ACCELERATOR
from kruntimes_core.lab.bench.live.made.site import Placed, Site
from kruntimes_core.lab.bench.live.tasks import together
from kruntimes_core.model.messages import InputError

HOPELESS, ELSEWHERE, HOLDER = "hopeless", "elsewhere", "holder"
_OTHER_RUNTIME = "bench-elsewhere"
_PATIENCE_SECONDS = 60.0


async def add_background(site: Site, *, scheduled: bool) -> None:
    """Make the Runs that can never fit, and those that wait for room which somebody else has.

    scheduled: a scheduler runs already, which places those that have the room; else the bench does.
    """
    load = site.load
    await together(
        site.add_run(
            _where(site, number),
            f"hopeless-{number:05}",
            HOPELESS,
            requests={"runs": load.slots_of_a_pod + 2},
        )
        for number in range(load.hopeless)
    )
    if not load.waiting_elsewhere:
        return
    other = await site.add_pod(site.cells[0], "pod-elsewhere", {"runs": 1}, _OTHER_RUNTIME)
    await together(
        _hold(site, number, pod, other=pod is other, scheduled=scheduled)
        for number, pod in enumerate(site.pods)
    )
    await together(_wait_elsewhere(site, number, other.cell) for number in range(load.waiting_elsewhere))


async def _hold(site: Site, number: int, pod: Placed, *, other: bool, scheduled: bool) -> None:
    """Let a Run hold what others are to wait for."""
    name = f"holder-{number:04}"
    requests = None if other else {ACCELERATOR: 1}
    runtime = _OTHER_RUNTIME if other else None
    await site.add_run(pod.cell, name, HOLDER, runtime=runtime, requests=requests)
    if not scheduled:
        await site.api.patch_status(RUNS, pod.namespace, name, objects.occupying(pod.name, pod.uid))
    key = pod.namespace, name
    held = await site.observer.until(
        lambda: key in site.observer.runs and site.observer.runs[key].active, _PATIENCE_SECONDS
    )
    if not held:
        raise InputError(f"run {pod.namespace}/{name} is not placed, and has room: does a scheduler run?")


async def _wait_elsewhere(site: Site, number: int, other: Cell) -> None:
    """Every second one waits for the other Runtime, the others for the resource."""
    name = f"elsewhere-{number:05}"
    if number % 2:
        await site.add_run(_where(site, number), name, ELSEWHERE, requests={ACCELERATOR: 1})
    else:
        await site.add_run(other, name, ELSEWHERE, runtime=_OTHER_RUNTIME)


def _where(site: Site, number: int) -> Cell:
    return site.cells[number % len(site.cells)]
