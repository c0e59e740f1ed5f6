"""Whole histories on a slow and lagging server: nothing is oversold, nothing bound twice, nobody forgotten.

The server checks every bind that it accepts, and ends the test when one breaks a promise.
"""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from memoryapi.calls import status, target
from memoryapi.site import Site, play

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import PODS, RUNS
from tests.unit.cluster.played import scheduler_scene


def slow(site: Site, seconds: float) -> None:
    """Every write arrives after some time."""

    async def fault(call: Call) -> Response | None:
        if target(call).verb == "patch":
            await asyncio.sleep(seconds)
        return None

    site.api.faults.append(fault)


async def ends_its_runs(site: Site, after_seconds: float) -> None:
    """The Runtime Pods: each Run ends some time after it was bound."""
    ending: set[str] = set()

    async def end(name: str) -> None:
        await asyncio.sleep(after_seconds)
        site.end(name)

    async with asyncio.TaskGroup() as group:
        while True:
            for run in site.server.all(RUNS):
                name = run["metadata"]["name"]
                if run["status"]["phase"] == "Scheduled" and name not in ending:
                    ending.add(name)
                    group.create_task(end(name))
            await asyncio.sleep(0.1)


def ended(site: Site) -> int:
    return sum(run["status"]["phase"] == "Succeeded" for run in site.server.all(RUNS))


@pytest.mark.parametrize("seed", range(10))
def test_many_runs_on_few_slots_of_a_slow_server(profiles: Profiles, seed: int) -> None:
    random = Random(seed)

    async def scene(site: Site) -> None:
        site.api.lag_seconds = {"runs": random.choice([0.0, 0.5, 3.0]), "pods": random.random()}

        async def mostly_fine(call: Call) -> Response | None:
            if target(call).verb != "patch":
                return None
            await asyncio.sleep(random.random() * 0.4)
            fate = random.random()
            if fate < 0.1:
                raise MaybeSentError("the connection broke before the server")
            if fate < 0.2:
                site.api._serve(call, target(call))
                raise MaybeSentError("the connection broke behind the server")
            return status(429, retry_after="1") if fate < 0.25 else None

        site.api.faults.append(mostly_fine)
        site.pod("py-0", runs=4)
        site.start()
        for number in range(40):
            site.run(f"r{number:02}")
        pods = asyncio.create_task(ends_its_runs(site, 1.0))
        for _ in range(300):
            await site.passes(1)
            if ended(site) == 40:
                break
        pods.cancel()
        assert ended(site) == 40
        assert [*site.server.invariants.binds.values()] == [1] * 40

    play(profiles, scene, in_flight=8)


@scheduler_scene()
async def test_slots_of_a_lagging_server_do_not_stay_empty(site: Site) -> None:
    site.api.lag_seconds = {"runs": 3.0}
    slow(site, 0.2)
    site.pod("py-0", runs=4)
    for number in range(40):
        site.run(f"r{number:02}")
    site.start()
    pods = asyncio.create_task(ends_its_runs(site, 1.0))
    # Ten rounds of four: latency, the Run itself, the lag of the watch, and at most 2 s of ours.
    await site.passes(10 * (0.2 + 1 + 3) + 2)
    pods.cancel()
    assert ended(site) == 40


@pytest.mark.parametrize("order", ["deleted first", "added first"])
@scheduler_scene()
async def test_a_run_that_was_created_again_is_another_run(site: Site, order: str) -> None:
    slow(site, 3)
    site.pod("py-0", runs=1, capacity={"gpu": "1"})
    site.start()
    await site.passes(1)
    site.run("r1", uid="u1")
    await site.passes(1)
    assert site.host.dispatcher.in_flight == 1
    if order == "deleted first":
        site.delete("r1")
    site.run("r1", uid="u2", requests={"gpu": 1})
    await site.passes(10)
    bound = site.server.get(RUNS, "team-a", "r1")
    assert (bound["metadata"]["uid"], site.pod_of("r1")) == ("u2", "py-0")
    assert list(site.server.invariants.binds) == [("u2", 1)]
    assert site.host.engine.sizes["runs"] == 1


@scheduler_scene(in_flight=1)
async def test_a_pod_that_was_replaced_while_a_bind_waited_gets_nothing(site: Site) -> None:
    slow(site, 2)
    site.pod("py-0", runs=5)
    site.start()
    await site.passes(1)
    site.run("first")
    site.run("second")
    await site.passes(1)
    # The bind of `second` waits for its turn: the one place is taken.
    site.delete("first")
    site.delete("py-0", kind=PODS)
    site.pod("py-0", uid="P0b", ready=False)
    await site.passes(5)
    assert site.pod_of("second") is None
    site.ready("py-0", True)
    await site.passes(4)
    assert site.status("second")["assignedPodUID"] == "P0b"


@scheduler_scene()
async def test_a_cancelled_run_hands_its_room_on(site: Site) -> None:
    slow(site, 0.5)
    site.pod("py-0", runs=1)
    site.run("r1")
    site.run("r2")
    site.start()
    await site.passes(0.1)
    site.change("r1", spec={"cancelRequested": True})
    await site.passes(5)
    assert site.status("r1")["phase"] == "Cancelled"
    assert site.pod_of("r2") == "py-0"


@scheduler_scene()
async def test_nothing_remains_of_runs_that_are_gone(site: Site) -> None:
    site.pod("py-0", runs=30)
    site.start()
    await site.passes(1)
    before = site.host.engine.sizes
    for number in range(200):
        site.run(f"r{number}")
    await site.passes(2)
    assert site.host.engine.sizes["runs"] == 200
    for number in range(200):
        site.delete(f"r{number}")
    await site.passes(61)
    assert site.host.engine.sizes == before
    assert site.host.dispatcher.in_flight == 0


@scheduler_scene()
async def test_heartbeats_that_change_nothing_cost_no_cycle(site: Site) -> None:
    for number in range(50):
        site.pod(f"py-{number:02}", runs=1)
    for number in range(200):
        site.run(f"hopeless-{number:03}", requests={"gpu": 1})
    site.start()
    await site.passes(2)
    before = _count(site)
    await site.passes(60)
    assert _count(site) - before == 2  # one class, a look each 30 s
    assert site.api.count("patch", "runs") == 200
    site.run("fits")
    await site.passes(1)
    assert site.pod_of("fits") is not None


def _count(site: Site) -> int:
    text = site.host.metrics.exposition().decode()
    (line,) = (
        one for one in text.splitlines() if one.startswith("kruntimes_scheduler_sync_duration_seconds_count")
    )
    return int(float(line.split()[1]))


@scheduler_scene()
async def test_a_pod_whose_heartbeat_runs_out_gets_nothing_without_any_event(site: Site) -> None:
    site.pod("py-0", beating=False)
    site.start()
    await site.passes(20)
    site.run("r1")
    await site.passes(10)
    assert site.pod_of("r1") is None
    site.beat("py-0")
    await site.passes(2)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_a_host_that_was_suspended_trusts_no_old_heartbeat(site: Site) -> None:
    """The clock goes on while timers stand still: the host looks at it once a second."""
    site.pod("py-0", beating=False)
    site.start()
    await site.passes(2)
    site.clock.sleep_through(3600)
    await site.passes(1.5)
    site.run("r1")
    await site.passes(3)
    assert site.pod_of("r1") is None
