"""F2: a leader that cannot renew stops before another can begin, and comes back as a standby."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from memoryapi.calls import status, target
from replicas.replica import Replica
from replicas.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from tests.unit.cluster.played import election_scene

Answer = Callable[[Call], Awaitable[Response | None]]


def refused(code: int, reason: str) -> Answer:
    async def answer(call: Call) -> Response | None:
        return status(code, reason, "no") if target(call).verb == "put" else None

    return answer


async def silent(call: Call) -> Response | None:
    if target(call).verb == "put":
        await asyncio.get_running_loop().create_future()
    return None


TROUBLES = {
    "500": refused(500, "InternalError"),
    "403": refused(403, "Forbidden"),
    "409": refused(409, "Conflict"),
    "silence": silent,
}


async def busy(site: Site, replica: Replica) -> None:
    """Let a bind of the leader be in flight that takes 5 s, more than its limit."""
    replica.wire.slow_seconds = lambda what: 5.0 if what.verb == "patch" else 0.0
    site.more_runs(1)
    await site.passes(0.1)
    assert replica.host.dispatcher.in_flight == 1


@pytest.mark.parametrize("trouble", TROUBLES)
@election_scene()
async def test_nothing_is_written_once_the_lease_cannot_be_renewed(site: Site, trouble: str) -> None:
    site.pod("py-0", runs=200)
    first, second = await site.pair()
    site.more_runs(5)
    await site.passes(1)
    began = asyncio.get_running_loop().time()
    first.lease_wire.after.append(TROUBLES[trouble])
    await busy(site, first)
    for _ in range(160):
        site.more_runs(1)
        await site.passes(0.1)
    assert not first.leading
    # The last renewal that worked was sent at most 2 s earlier.
    assert max(site.writes_of("first")) <= began + 10
    await site.until(lambda: second.leading, 2)
    lead_at = asyncio.get_running_loop().time()
    assert min(site.writes_of("second")) > max(site.writes_of("first")) + 4
    site.more_runs(5)
    await site.passes(5)
    # It is a clean standby, and can lead again.
    first.lease_wire.after.clear()
    first.wire.slow_seconds = lambda what: 0.0
    await site.passes(10)
    assert site.leaders() == ["second"]
    assert site.writes_of("first", lead_at) == []
    assert first.why_not_ready() == []
    await second.stop()
    await site.until(lambda: first.host.deciding, 1)
    site.more_runs(5)
    await site.passes(10)
    assert first.elector.terms == 2
    assert all(site.pod_of(f"r{number:04}") for number in range(1, 177))
    assert site.leases.spec["leaseTransitions"] == 2


@election_scene()
async def test_a_renewal_that_works_in_time_ends_the_trouble(site: Site) -> None:
    first, second = await site.pair()
    first.lease_wire.after.append(TROUBLES["500"])
    await site.passes(7)
    assert "cannot update leases.coordination.k8s.io" in first.why_not_ready()[0]
    first.lease_wire.after.clear()
    await site.passes(60)
    assert first.leading
    assert first.why_not_ready() == []
    assert (first.elector.terms, second.elector.terms) == (1, 0)


@election_scene()
async def test_a_renewal_counts_from_when_it_was_sent(site: Site) -> None:
    """Others may have seen the record since: a slow answer makes no term longer."""
    first, _ = await site.pair()
    first.lease_wire.late_seconds = lambda what: 3.5 if what.verb == "put" else 0.0
    sent: list[float] = []

    async def one_more(call: Call) -> Response | None:
        if target(call).verb == "put":
            sent.append(asyncio.get_running_loop().time())
        return status(500, "InternalError") if len(sent) > 1 else None

    first.lease_wire.after.append(one_more)
    await site.until(lambda: bool(sent), 3)
    await site.until(lambda: not first.leading, 11)
    lasted = asyncio.get_running_loop().time() - sent[0]
    assert lasted == pytest.approx(10, abs=0.1)


@election_scene()
async def test_an_own_record_is_taken_up_again_without_a_transition(site: Site) -> None:
    """Its renewals fail just long enough: nobody else can have led since."""
    first, _ = await site.pair()
    first.lease_wire.after.append(TROUBLES["500"])
    await site.until(lambda: not first.leading, 10)
    first.lease_wire.after.clear()
    await site.until(lambda: first.leading, 1)
    assert first.elector.terms == 2
    assert site.leases.spec["leaseTransitions"] == 0


@election_scene()
async def test_a_lease_in_other_hands_ends_leading_at_once(site: Site) -> None:
    first, _ = await site.pair()
    site.leases.write(holderIdentity="a-go-program_1", leaseDurationSeconds=15)
    await site.until(lambda: not first.leading, 2.6)
    assert "another's now" in first.log
    assert site.leases.holder == "a-go-program_1"
    assert site.leaders() == []
    waited = await site.until(lambda: bool(site.leaders()), 18)
    assert waited > 12


@election_scene()
async def test_a_lease_that_is_changed_by_others_stays_ours(site: Site) -> None:
    first, _ = await site.pair()
    site.leases.write(preferredHolder=None, leaseDurationSeconds=7)
    await site.passes(20)
    assert (first.leading, first.elector.terms) == (True, 1)
    assert site.leases.spec["leaseDurationSeconds"] == 15


@election_scene()
async def test_a_deleted_lease_is_no_licence_for_who_saw_it(site: Site) -> None:
    first, second = await site.pair()
    first.lease_wire.dead = True  # it cannot even see that
    site.leases.delete()
    lost = await site.until(lambda: not first.leading, 10)
    assert not second.leading
    assert lost > 7
    await site.until(lambda: second.leading, 8)


@election_scene()
async def test_a_leader_whose_lease_was_deleted_steps_down_and_creates_it_anew(site: Site) -> None:
    first, second = await site.pair()
    site.leases.delete()
    third = site.replica("third")
    await site.until(lambda: first.elector.terms == 2, 3)
    assert "the lease is gone" in first.log
    await site.passes(30)
    assert site.leaders() == ["first"]
    assert (second.elector.terms, third.elector.terms) == (0, 0)


@election_scene()
async def test_a_suspended_leader_writes_nothing_when_it_wakes(site: Site) -> None:
    """The clock goes on while timers stand still: the step that sends looks at the clock."""
    site.pod("py-0", runs=10)
    first, _ = await site.pair()
    looked_at: list[bool] = []

    async def sleeps(call: Call) -> Response | None:
        if target(call).verb == "patch" and not looked_at:
            first.clock.sleep_through(3600)
            first.clock.jump(-3600)  # the world's clocks went on as well
            looked_at.append(True)
        return None

    first.wire.before.append(sleeps)
    site.more_runs(3)
    await site.passes(1.5)
    assert looked_at == [True]
    assert "not leading any more" in first.log
    assert [one.term for one in site.traffic.sent if one.what.plural == "runs"].count(1) == 0
    await site.passes(30)
    assert [site.pod_of(f"r000{number}") for number in (1, 2, 3)] == ["py-0"] * 3


@election_scene()
async def test_the_gate_of_a_renewal_is_closed_too(site: Site) -> None:
    first, _ = await site.pair()

    async def sleeps(call: Call) -> Response | None:
        if target(call).verb == "put" and first.clock.now().ticks < 10**9:
            first.clock.sleep_through(3600)
        return None

    first.lease_wire.before.append(sleeps)
    before = len(site.traffic.sent)
    await site.until(lambda: first.elector.terms == 2, 4)
    (taken,) = site.traffic.sent[before:]
    assert (taken.replica, taken.term) == ("first", 1)
    assert "cannot update leases.coordination.k8s.io in kube-system: the gate is closed" in first.log


@election_scene()
async def test_a_write_that_waits_for_its_connection_is_closed_with_the_term(site: Site) -> None:
    site.pod("py-0", runs=10)
    first, _ = await site.pair()
    entered = asyncio.Event()

    async def waits(call: Call) -> Response | None:
        if target(call).verb == "patch":
            entered.set()
            await asyncio.get_running_loop().create_future()
        return None

    await site.passes(1)
    first.lease_wire.after.append(TROUBLES["500"])
    await site.passes(8)
    first.wire.before.append(waits)
    site.more_runs(1)
    await entered.wait()
    assert first.host.dispatcher.in_flight == 1
    await site.until(lambda: not first.leading, 4)
    await site.passes(0.1)
    assert first.host.dispatcher.in_flight == 0
