"""C11, D5: many Runs for few slots of a slow server, and many that will never fit."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from virtual.calls import target
from virtual.site import Site, play

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import RUNS
from tests.unit.cluster.played import scheduler_scene

WATCH_LAG_SECONDS, LATENCY_SECONDS = 3.0, 0.2


async def _pods_work(site: Site) -> None:
    """Each Run ends 1 s after its bind."""
    begun: dict[str, float] = {}
    while True:
        now = asyncio.get_running_loop().time()
        for run in site.server.all(RUNS):
            name = run["metadata"]["name"]
            if run["status"]["phase"] == "Scheduled" and now - begun.setdefault(name, now) >= 1:
                site.end(name)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("seed", range(20))
def test_forty_runs_for_four_slots_are_each_placed_once_and_no_slot_stays_free_for_long(
    profiles: Profiles, seed: int
) -> None:
    """The seed decides how the latency of each write varies around 200 ms, and in which order Runs come."""
    random = Random(seed)

    async def scene(site: Site) -> None:
        async def slow(call: Call) -> Response | None:
            if target(call).verb == "patch":
                await asyncio.sleep(LATENCY_SECONDS * random.uniform(0.5, 1.5))
            return None

        site.api.faults.append(slow)
        site.api.lag_seconds["runs"] = WATCH_LAG_SECONDS
        site.pod("py-0", runs=4)
        names = [f"r{number:02}" for number in range(40)]
        random.shuffle(names)
        for name in names:
            site.run(name, uid=name)
        site.start()
        working = asyncio.create_task(_pods_work(site))
        longest = await _longest_free(site)
        working.cancel()
        assert site.server.invariants.binds == {(name, 1): 1 for name in names}
        # The end of a Run is told of 3 s later; the write takes its time; the rest is the host's.
        assert longest <= WATCH_LAG_SECONDS + 2

    play(profiles, scene, in_flight=4)


async def _longest_free(site: Site) -> float:
    """Until all have ended: for how long a slot was free at a time while somebody waited."""
    free_since: float | None = None
    longest = 0.0
    while True:
        await site.passes(0.05)
        now = asyncio.get_running_loop().time()
        phases = [run["status"]["phase"] for run in site.server.all(RUNS)]
        if phases.count("Succeeded") == len(phases):
            return longest
        if phases.count("Scheduled") == 4 or "Pending" not in phases:
            free_since = None
            continue
        free_since = now if free_since is None else free_since
        longest = max(longest, now - free_since)


@scheduler_scene()
async def test_five_hundred_hopeless_runs_and_fifty_beating_pods_keep_nobody_waiting(site: Site) -> None:
    for number in range(50):
        site.pod(f"py-{number:02}", runs=1)
    for number in range(500):
        site.run(f"hopeless-{number:03}", requests={"gpu": 1})
    site.start()
    await site.passes(65)
    texts = site.api.count("patch", "runs")
    cycles = site.host.engine.counters.syncs.total()
    # They wait in one class, which is looked at each 30 s; 600 heartbeats cost nothing.
    assert texts == 500
    assert cycles == 500 + 2
    site.run("fits")
    await site.passes(1)
    assert site.pod_of("fits") is not None
    assert site.api.count("patch", "runs") == 501
