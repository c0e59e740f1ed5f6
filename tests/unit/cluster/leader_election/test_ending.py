"""Letting go: at once when all is answered, by expiry when anything is in doubt, or when it is crashed."""

from __future__ import annotations

import asyncio

import pytest
from memoryapi.calls import status, target
from replicas.replica import Replica
from replicas.site import Site

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response
from kruntimes_core.cluster.leader_election.elector import LeaseDurations
from kruntimes_core.cluster.observability.endpoints import HealthCheck
from tests.unit.cluster.played import election_scene


@election_scene()
async def test_another_leads_within_a_second_of_a_clean_stop(site: Site) -> None:
    site.pod("py-0", runs=50)
    first, second = await site.pair()
    site.more_runs(20)
    await site.passes(0.02)
    await first.stop()
    assert (site.leases.holder, site.leases.spec["leaseDurationSeconds"]) == ("", 1)
    assert site.leases.spec["leaseTransitions"] == 0
    assert first.log.count("released the lease") == 1
    await site.until(lambda: second.leading, 1)
    await site.passes(2)
    assert site.leases.spec["leaseTransitions"] == 1
    assert all(site.pod_of(f"r{number:04}") for number in range(1, 21))


@pytest.mark.parametrize("moment", [0.1, 0.7, 1.3, 1.9])
@election_scene()
async def test_another_leads_two_seconds_after_the_lease_of_one_that_crashed(
    site: Site, moment: float
) -> None:
    site.pod("py-0", runs=50)
    first, second = await site.pair()
    await site.passes(moment)
    site.more_runs(3)
    await site.passes(0.001)
    await first.crash()
    site.more_runs(3)
    waited = await site.until(lambda: second.leading, 17)
    assert waited >= 13
    await site.passes(2)
    assert all(site.pod_of(f"r{number:04}") for number in range(1, 7))


@election_scene()
async def test_the_lease_is_kept_until_every_write_is_answered(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, second = await site.pair()
    first.wire.slow_seconds = lambda what: 3.0 if what.verb == "patch" else 0.0
    site.more_runs(2)
    await site.passes(0.5)
    stopping = asyncio.create_task(first.stop())
    await site.passes(2)
    assert not stopping.done()
    assert (site.leases.holder, second.leading) == ("first", False)
    await stopping
    assert site.leases.holder == ""
    assert site.pod_of("r0001") == "py-0"
    await site.until(lambda: second.leading, 1)


async def _lost(call: Call) -> Response | None:
    if target(call).verb == "patch":
        raise MaybeSentError("the connection broke")
    return None


async def _unavailable(call: Call) -> Response | None:
    return status(503, "ServiceUnavailable") if target(call).verb == "patch" else None


@pytest.mark.parametrize("doubt", [_lost, _unavailable])
@election_scene()
async def test_a_write_in_doubt_lets_the_lease_expire(site: Site, doubt: object) -> None:
    site.pod("py-0", runs=1)
    first, second = await site.pair()
    first.wire.before.append(doubt)  # type: ignore[arg-type]
    site.more_runs(1)
    await site.passes(0.05)
    await first.stop()
    assert "outcomes of writes are unknown: the lease is left to expire" in first.log
    assert site.leases.holder == "first"
    waited = await site.until(lambda: second.leading, 17)
    assert waited >= 13


@election_scene()
async def test_a_doubt_that_is_settled_keeps_no_lease(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, _ = await site.pair()
    first.wire.before.append(_lost)
    site.more_runs(1)
    await site.passes(0.05)
    assert "kruntimes_scheduler_writes_outcome_unknown 1.0" in first.host.metrics.exposition().decode()
    first.wire.before.clear()
    await site.passes(5)
    assert site.pod_of("r0001") == "py-0"
    assert "kruntimes_scheduler_writes_outcome_unknown 0.0" in first.host.metrics.exposition().decode()
    await first.stop()
    assert site.leases.holder == ""


@election_scene()
async def test_a_doubt_as_old_as_a_lease_keeps_no_lease(site: Site) -> None:
    """Waiting for the Lease to expire would give it no more time than it has had."""
    site.pod("py-0", runs=1)
    first, _ = await site.pair()
    first.wire.before.append(_lost)
    site.more_runs(1)
    await site.passes(0.2)

    async def unreadable(call: Call) -> Response | None:
        return status(500, "InternalError") if target(call).verb == "get" else None

    first.wire.after.append(unreadable)
    await site.passes(20)
    await first.stop()
    assert site.leases.holder == ""


@election_scene()
async def test_a_standby_that_is_stopped_touches_nothing(site: Site) -> None:
    first, second = await site.pair()
    await second.stop()
    await site.passes(5)
    assert (site.leases.holder, first.leading) == ("first", True)


@election_scene()
async def test_who_is_stopping_takes_no_lease(site: Site) -> None:
    first, second = await site.pair()
    site.pod("py-0", runs=9)
    first.wire.slow_seconds = lambda what: 3.5 if what.verb == "patch" else 0.0
    site.more_runs(1)
    await site.passes(1)
    both = [asyncio.create_task(one.stop()) for one in (second, first)]
    await asyncio.wait(both)
    assert site.leases.holder == ""
    assert second.elector.terms == 0


@election_scene()
async def test_a_release_that_fails_is_left_to_expire(site: Site) -> None:
    first, second = await site.pair()

    async def refused(call: Call) -> Response | None:
        return status(500, "InternalError") if target(call).verb == "put" else None

    first.lease_wire.after.append(refused)
    await first.stop()
    assert "could not release the lease" in first.log
    await site.until(lambda: second.leading, 17)


@election_scene()
async def test_a_release_meets_a_change_by_others(site: Site) -> None:
    first, _ = await site.pair()
    site.leases.write(leaseDurationSeconds=14)
    await first.stop()
    assert site.leases.holder == ""


@election_scene()
async def test_a_lease_of_another_is_not_released(site: Site) -> None:
    first, _ = await site.pair()
    site.leases.write(holderIdentity="a-go-program_1", leaseDurationSeconds=15)
    await first.stop()
    assert site.leases.holder == "a-go-program_1"
    assert "released the lease" not in first.log


# Who cannot work does not keep it


def dead(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    def alive() -> list[HealthCheck]:
        return [HealthCheck("plugin-worker", "3 calls of plugins do not return")]

    monkeypatch.setattr(replica.host.leadership, "why_not_go_on", lambda: alive()[0].why)
    monkeypatch.setattr(replica.host.leadership, "why_not_begin", lambda: alive()[0].why)


@election_scene()
async def test_a_host_that_is_not_alive_lets_the_lease_go(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await site.pair()
    dead(first, monkeypatch)
    await site.until(lambda: not first.leading, 10)
    assert "3 calls of plugins do not return" in first.log
    await site.until(lambda: second.leading, 17)
    await site.passes(20)
    assert first.elector.terms == 1


# Durations


@election_scene(durations=LeaseDurations(lease=6.5, deadline=4, retry=1))
async def test_every_write_is_limited_by_the_durations(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, _ = await site.pair()
    site.more_runs(1)
    await site.passes(1)
    (patch,) = [call for _, what, call in site.api.calls if what.verb == "patch"]
    assert (dict(patch.query)["timeout"], patch.timeout_seconds) == ("1.5s", 1.5)
    assert first.elector.limits.write_seconds == 1.5
