"""Only the scheduler that decides tells of anything, and not a moment longer than it may write."""

from __future__ import annotations

import asyncio

import pytest
from virtual.calls import status, target
from virtual.site import Site as Alone
from virtual.site import play as play_alone

from kruntimes_core.cluster.client.transport import Call, NotSentError, Response
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.event import EventOutcome, EventReason, Lane
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import make_pod, make_run
from tests.unit.cluster.event_recorder.scene import AFTER, REPEAT, EventWay
from tests.unit.cluster.leader_election.site import Site
from tests.unit.cluster.played import election_scene


async def refuse_renewals(call: Call) -> Response | None:
    """No renewal of the Lease works."""
    return status(500, "InternalError", "no") if target(call).verb == "put" else None


async def two(site: Site) -> tuple[EventWay, EventWay]:
    """The ways of a leader and of a standby."""
    first, second = EventWay(), EventWay()
    site.replica("first", events=first.sink())
    await site.passes(5)
    site.replica("second", events=second.sink())
    await site.passes(1)
    assert site.leaders() == ["first"]
    return first, second


@election_scene()
async def test_a_standby_tells_of_nothing_and_of_all_that_lasts_once_it_leads(site: Site) -> None:
    first, second = await two(site)
    site.run("r1")
    await site.passes(AFTER + 2)
    assert first.said() == [("r1", "FailedScheduling", 1)]
    assert second.calls == []
    await site.replicas[0].stop()
    await site.passes(3)
    assert site.leaders() == ["second"]
    await site.passes(AFTER + 2)
    assert second.said() == [("r1", "FailedScheduling", 1)]
    assert first.said() == [("r1", "FailedScheduling", 1)]


@election_scene()
async def test_a_standby_that_sees_a_pod_oversold_leaves_it_to_the_leader(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, second = await two(site)
    site.run("r1", pod="py-0")
    site.run("r2", pod="py-0")
    await site.passes(7)
    assert "RuntimePodOversold" in [reason for _, reason, _ in first.said()]
    assert second.calls == []
    counts = site.replicas[1].host.event_recorder
    assert counts is not None
    assert counts.counts == {}


@election_scene()
async def test_nothing_is_sent_after_the_renew_deadline(site: Site) -> None:
    first, _ = await two(site)
    leader = site.replicas[0]
    for number in range(200):
        site.run(f"r{number:03}", runtime=f"rt-{number}")
    await site.passes(AFTER + 2)
    assert first.calls
    leader.lease_wire.after.append(refuse_renewals)
    while leader.leading:
        await site.passes(0.05)
    lost = asyncio.get_running_loop().time()
    await site.passes(30)
    assert max(at for at, _ in first.calls) <= lost
    # There was more to say until the very end.
    assert max(at for at, _ in first.calls) > lost - 1


@election_scene()
async def test_a_leader_that_slept_past_the_deadline_hands_nothing_over(site: Site) -> None:
    first, _ = await two(site)
    for number in range(200):
        site.run(f"r{number:03}", runtime=f"rt-{number}")
    await site.passes(AFTER + 2)
    sent = len(first.calls)
    site.replicas[0].clock.sleep_through(11)
    site.replicas[0].lease_wire.after.append(refuse_renewals)
    await site.passes(5)
    assert len(first.calls) == sent


@pytest.mark.parametrize(
    ("arrives", "outcome"), [(True, EventOutcome.CREATED), (False, EventOutcome.DROPPED)]
)
@election_scene()
async def test_what_was_under_way_at_the_end_of_a_lead_is_no_failure(
    site: Site, arrives: bool, outcome: EventOutcome
) -> None:
    first, _ = await two(site)
    leader = site.replicas[0]

    async def sleeps(call: Call) -> Response | None:
        leader.clock.sleep_through(11)
        if not arrives:
            raise NotSentError("no connection")
        return None

    first.faults.append(sleeps)
    site.run("r1")
    await site.passes(AFTER + 1)
    recorder = leader.host.event_recorder
    assert recorder is not None
    assert recorder.counts == {(EventReason.FAILED_SCHEDULING, outcome): 1}


@election_scene()
async def test_what_was_queued_is_dropped_with_the_lead_and_what_lasts_is_not(site: Site) -> None:
    first, _ = await two(site)
    leader = site.replicas[0]
    await site.replicas[1].stop()
    site.run("r1")
    await site.passes(AFTER + 1)
    recorder = leader.host.event_recorder
    assert recorder is not None
    for number in range(100):
        recorder.sources.oversold(make_pod("py-0"), make_run(f"x{number}"))
    leader.lease_wire.after.append(refuse_renewals)
    while leader.leading:
        await site.passes(0.05)
    await site.passes(3)
    leader.lease_wire.after.clear()
    await site.until(lambda: leader.host.deciding, 30)
    assert recorder.lengths[Lane.AT_ONCE] == 0
    await site.passes(REPEAT)
    assert first.of("r1")[0]["series"]["count"] == 2


@pytest.mark.parametrize("dry", [True, False])
def test_a_dry_run_tells_of_nothing(profiles: Profiles, dry: bool) -> None:
    way = EventWay()

    async def scene(site: Alone) -> None:
        site.start()
        site.run("r1")
        await site.passes(3 * AFTER)
        assert bool(way.calls) is not dry

    play_alone(profiles, scene, events=way.sink(), dry_run=DryRunSettings() if dry else None)
