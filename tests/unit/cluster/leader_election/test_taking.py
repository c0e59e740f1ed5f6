"""F3, F4, F8: a record is alive until it stood still, on the own clock, for the time that it names."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from memoryapi.calls import status, target
from replicas.server import NAMESPACE
from replicas.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from tests.unit.cluster.played import election_scene

GO = {
    "holderIdentity": "kruntimes-scheduler-5d9c7b6f4-x2k8p_0f8c2f7e-1b2c-4d3e-8f90-a1b2c3d4e5f6",
    "leaseDurationSeconds": 15,
    "acquireTime": "2025-12-24T18:00:00.123456Z",
    "renewTime": "2026-01-02T03:04:05.000001Z",
    "leaseTransitions": 6,
}
"""What a Go elector writes."""


async def renewed(site: Site, seconds: float) -> None:
    """Let a Go elector renew for some time."""
    end = asyncio.get_running_loop().time() + seconds
    number = 0
    while asyncio.get_running_loop().time() < end:
        number += 1
        site.leases.write(renewTime=f"2026-01-02T03:04:06.{number:06}Z")
        await site.passes(2)


@election_scene()
async def test_a_record_is_written_as_go_electors_write_it(site: Site) -> None:
    await site.pair()
    await site.passes(4)
    spec = site.leases.spec
    assert spec.keys() == GO.keys()
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("first", 15)
    assert spec["leaseTransitions"] == 0
    times = [spec["acquireTime"], spec["renewTime"]]
    assert all(re.fullmatch(r"2026-01-02T03:04:\d\d\.\d{6}Z", time) for time in times)
    assert times[0] < times[1]
    assert site.longest_without_lease_write("first") == pytest.approx(2, abs=0.01)


@election_scene()
async def test_a_go_programs_lease_is_honoured_and_then_taken_over(site: Site) -> None:
    site.leases.write(**GO)
    ours = site.replica("ours")
    await renewed(site, 60)
    assert not ours.leading
    assert ours.why_not_ready() == []
    assert site.leases.spec["leaseTransitions"] == 6
    waited = await site.until(lambda: ours.leading, 17)
    assert waited >= 15 - 2
    assert site.leases.spec["leaseTransitions"] == 7
    assert site.leases.spec["acquireTime"] > "2026-01-02T03:05"


@election_scene()
async def test_a_lease_that_a_go_program_released_is_taken_at_once(site: Site) -> None:
    site.leases.write(**GO)
    ours = site.replica("ours")
    await renewed(site, 10)
    site.leases.write(holderIdentity="", leaseDurationSeconds=1)
    await site.until(lambda: ours.leading, 0.6)
    assert site.leases.spec["leaseTransitions"] == 7
    assert site.leases.spec["leaseDurationSeconds"] == 15


@pytest.mark.parametrize(("seconds", "least"), [(3, 3), (40, 40), (None, 15)])
@election_scene()
async def test_a_record_stands_for_the_time_that_it_names(
    site: Site, seconds: int | None, least: float
) -> None:
    site.leases.write(**{**GO, "leaseDurationSeconds": seconds})
    ours = site.replica("ours")
    waited = await site.until(lambda: ours.leading, least + 2)
    assert waited >= least


@pytest.mark.parametrize("renew_time", [None, "1999-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z"])
@election_scene()
async def test_the_times_in_a_record_say_nothing(site: Site, renew_time: str | None) -> None:
    site.leases.write(**{**GO, "renewTime": renew_time})
    ours = site.replica("ours")
    waited = await site.until(lambda: ours.leading, 17)
    assert waited >= 15


@pytest.mark.parametrize("skew", [600, -600])
@election_scene()
async def test_a_standby_with_a_wrong_clock_takes_no_living_lease_and_takes_a_dead_one(
    site: Site, skew: float
) -> None:
    first = site.replica("first")
    await site.passes(5)
    second = site.replica("second", skew_seconds=skew)
    await site.passes(120)
    assert site.leaders() == ["first"]
    await first.crash()
    waited = await site.until(lambda: second.leading, 17)
    assert waited >= 13
    assert site.leases.spec["leaseTransitions"] == 1


@pytest.mark.parametrize("seconds", [3600, -3600])
@election_scene()
async def test_a_leader_whose_wall_clock_jumps_goes_on(site: Site, seconds: float) -> None:
    first, second = await site.pair()
    first.clock.jump(seconds)
    await site.passes(60)
    assert site.leaders() == ["first"]
    assert (first.elector.terms, second.elector.terms) == (1, 0)


@election_scene()
async def test_identities_are_compared_as_a_whole(site: Site) -> None:
    ten = site.replica("host-10")
    await site.passes(5)
    one = site.replica("host-1")
    await site.passes(60)
    assert (ten.leading, one.leading) == (True, False)


@election_scene()
async def test_a_restarted_process_waits_for_the_record_of_its_former_self(site: Site) -> None:
    before = site.replica("pod-a_1")
    await site.until(lambda: before.leading, 5)
    await before.crash()
    await site.passes(3)
    after = site.replica("pod-a_2")
    waited = await site.until(lambda: after.leading, 17)
    assert waited >= 15
    assert site.leases.spec["leaseTransitions"] == 1


@election_scene()
async def test_three_that_start_at_once_have_one_leader(site: Site) -> None:
    replicas = [site.replica(f"host_{number}") for number in range(3)]
    await site.passes(60)
    assert len(site.leaders()) == 1
    assert sorted(one.elector.terms for one in replicas) == [0, 0, 1]
    assert site.leases.spec["leaseTransitions"] == 0


@election_scene()
async def test_of_two_that_find_it_free_the_version_lets_one_have_it(site: Site) -> None:
    site.leases.write(**{**GO, "holderIdentity": ""})
    both = [site.replica(name) for name in ("one", "two")]

    async def slow(call: Call) -> Response | None:
        if target(call).verb == "put":
            await asyncio.sleep(1)
        return None

    for one in both:
        one.lease_wire.after.append(slow)
    await site.passes(2.5)
    assert len(site.leaders()) == 1
    assert sum(one.elector.lock.outcomes["update", "conflict"] for one in both) == 1


@election_scene()
async def test_an_answer_that_was_lost_is_found_out_by_reading(site: Site) -> None:
    """The Lease was taken, and nobody told: it holds it, and knows when it reads."""
    site.leases.write(**{**GO, "holderIdentity": ""})
    lost: list[Any] = []

    async def loses(call: Call) -> Response | None:
        if target(call).verb == "put" and not lost:
            lost.append(await site.way.request(call))
            return status(504, "Timeout")
        return None

    ours = site.replica("ours")
    ours.lease_wire.after.append(loses)
    await site.until(lambda: ours.leading, 3)
    assert lost[0].status == 200
    assert site.leases.spec["leaseTransitions"] == 7


@election_scene()
async def test_a_standby_reads_twice_a_second_and_writes_nothing(site: Site) -> None:
    site.pod("py-0", runs=1)
    _, second = await site.pair()
    before = second.elector.lock.outcomes["get", "done"]
    site.more_runs(3)
    await site.passes(60)
    assert second.elector.lock.outcomes["get", "done"] - before == pytest.approx(120, abs=3)
    assert [one for one in site.traffic.sent if one.replica == "second"] == []
    assert second.why_not_ready() == []
    assert second.host.engine.sizes["runs"] == 3


@election_scene()
async def test_probes_say_who_leads(site: Site) -> None:
    first, second = await site.pair()

    def note(replica: Any) -> list[str]:
        return [check.note for check in replica.host.ready() if check.name == "lease"]

    assert note(first) == ["leading"]
    assert note(second) == ["standby; held by 'first'"]
    shown = [one.host.metrics.exposition().decode() for one in (first, second)]
    assert ["kruntimes_scheduler_leading 1.0" in text for text in shown] == [True, False]


@pytest.mark.parametrize(("verb", "why"), [("get", "cannot get"), ("post", "cannot create")])
@election_scene()
async def test_a_missing_right_is_named_and_mended_without_a_restart(site: Site, verb: str, why: str) -> None:
    ours = site.replica("ours")

    async def forbidden(call: Call) -> Response | None:
        return status(403, "Forbidden", "not yours") if target(call).verb == verb else None

    ours.lease_wire.after.append(forbidden)
    await site.passes(10)
    assert not ours.leading
    (problem,) = ours.why_not_ready()
    leases = f"leases.coordination.k8s.io in {NAMESPACE}"
    assert problem.startswith(f"{why} {leases}: forbidden: grant the verb")
    assert ours.log.count(why) == 1
    ours.lease_wire.after.clear()
    await site.until(lambda: ours.leading, 5)
    assert ours.why_not_ready() == []


@election_scene()
async def test_a_namespace_that_is_not_there_is_named(site: Site) -> None:
    ours = site.replica("ours")

    async def missing(call: Call) -> Response | None:
        return status(404, "NotFound", 'namespaces "x" not found')

    ours.lease_wire.after.append(missing)
    await site.passes(10)
    (problem,) = ours.why_not_ready()
    assert "there is no such namespace: create it, or give --lease-namespace" in problem
