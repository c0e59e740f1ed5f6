"""What a host asks of the API server: counts of requests, and bytes of their bodies."""

from __future__ import annotations

from collections import Counter

import pytest
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Configuration
from tests.unit.cluster.played import scheduler_scene

RESOURCES = ("runs", "pods", "persistentworkspaces")
# A bind with names and UIDs of a real cluster (36 characters) has 100 more than with those of these tests.
BIND_BYTES, TEXT_BYTES = 330, 160


class Meter:
    """What was asked since the last look; watches are opened again now and then, and do not count."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen = 0

    def calls(self) -> list[tuple[str, str, Call]]:
        """Verb, resource and call of each request."""
        calls = self._site.api.calls
        new, self._seen = calls[self._seen :], len(calls)
        return [(what.verb, what.plural, call) for _, what, call in new if what.verb != "watch"]

    def verbs(self) -> Counter[tuple[str, str]]:
        """How often each verb was used on each resource."""
        return Counter((verb, plural) for verb, plural, _ in self.calls())


async def started(site: Site) -> Meter:
    """A host that has listed everything."""
    site.start()
    await site.passes(1)
    meter = Meter(site)
    meter.calls()
    return meter


@scheduler_scene()
async def test_a_start_lists_each_resource_once(site: Site) -> None:
    meter = Meter(site)
    site.pod("py-0")
    for number in range(50):
        site.run(f"r{number}", pod="py-9", phase="Succeeded")
    site.start()
    await site.passes(5)
    assert {what: n for what, n in meter.verbs().items() if what[1] in RESOURCES} == {
        ("list", resource): 1 for resource in RESOURCES
    }
    assert sorted(stream.plural for stream in site.api.streams) == sorted(RESOURCES)


@scheduler_scene()
async def test_a_placement_is_one_small_patch(site: Site) -> None:
    site.pod("py-0", runs=2)
    meter = await started(site)
    site.run("r", spec={"source": {"inline": "x" * 100_000}})
    await site.passes(5)
    assert site.pod_of("r") == "py-0"
    ((verb, plural, call),) = meter.calls()
    assert (verb, plural, call.path.rpartition("/")[2]) == ("patch", "runs", "status")
    assert 0 < len(call.body or b"") <= BIND_BYTES


@pytest.mark.parametrize("runs", [1, 40])
@scheduler_scene()
async def test_a_burst_is_a_patch_for_each_run(site: Site, runs: int) -> None:
    for number in range(10):
        site.pod(f"py-{number}", runs=4)
    meter = await started(site)
    for number in range(runs):
        site.run(f"r{number}")
    await site.passes(5)
    assert all(site.pod_of(f"r{number}") for number in range(runs))
    assert meter.verbs() == {("patch", "runs"): runs}


@scheduler_scene()
async def test_a_run_that_waits_is_told_so_in_one_small_patch(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.run("x", pod="py-0")
    meter = await started(site)
    site.run("r")
    await site.passes(5)
    ((verb, plural, call),) = meter.calls()
    assert (verb, plural) == ("patch", "runs")
    assert 0 < len(call.body or b"") <= TEXT_BYTES
    await site.passes(120)
    assert meter.calls() == []


@scheduler_scene(settings=Settings.of(Configuration()))
async def test_a_crowd_that_is_placed_within_a_moment_costs_a_patch_for_each_run(site: Site) -> None:
    """A text for a Run that waits for half a second is a write too many where writes are short."""
    site.pod("py-0", runs=10)
    meter = await started(site)
    for number in range(50):
        site.run(f"r{number}")
    for _ in range(5):
        await site.passes(0.15)
        placed = [n for n in range(50) if site.status(f"r{n}")["phase"] == "Scheduled"]
        for number in placed:
            site.end(f"r{number}")
    await site.passes(60)
    assert meter.verbs() == {("patch", "runs"): 50}


@scheduler_scene()
async def test_heartbeats_cost_no_request(site: Site) -> None:
    for number in range(100):
        site.pod(f"py-{number}", runs=1)
        site.run(f"x{number}", pod=f"py-{number}")
    site.run("r")
    meter = await started(site)
    beats = len(site.server.events["Pod"])
    await site.passes(30)
    assert len(site.server.events["Pod"]) - beats >= 5 * 100
    assert meter.calls() == []


@scheduler_scene()
async def test_what_others_do_costs_no_request(site: Site) -> None:
    site.pod("py-0", runs=2)
    site.run("x", pod="py-0")
    meter = await started(site)
    site.change("x", metadata={"labels": {"a": "b"}})
    site.change("x", status={"phase": "Ready"})
    site.end("x")
    await site.passes(1)
    site.delete("x")
    await site.passes(5)
    assert meter.calls() == []


@scheduler_scene()
async def test_a_take_over_writes_nothing_that_is_said_already(site: Site) -> None:
    """The first host says why Runs wait and stops; the second one has nothing to add."""
    site.pod("py-0", runs=1)
    site.run("x", pod="py-0")
    for number in range(30):
        site.run(f"r{number}", requests={"gpu": "1"} if number % 2 else None)
    await started(site)
    await site.passes(5)
    assert site.status("r1")["message"].startswith("waiting for")
    await site.end_host()
    meter = Meter(site)
    meter.calls()
    site.succeed()
    site.start()
    await site.passes(5)
    asked = meter.verbs()
    assert asked["patch", "runs"] == 0
    assert {resource: asked["list", resource] for resource in RESOURCES} == dict.fromkeys(RESOURCES, 1)
