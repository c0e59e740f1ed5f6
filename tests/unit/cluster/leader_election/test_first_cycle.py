"""F5: a new leader decides by what is true now, not by what its caches knew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from memoryapi.calls import status, target
from replicas.replica import Replica
from replicas.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from tests.unit.cluster.played import election_scene


def late(site: Site, replica: Replica, plural: str, seconds: float) -> None:
    """Let a replica's lists of a resource take time."""

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if (what.verb, what.plural) == ("list", plural):
            await asyncio.sleep(seconds)
        return None

    replica.wire.after.append(fault)


@pytest.mark.parametrize("plural", ["runs", "pods", "persistentworkspaces"])
@election_scene()
async def test_nothing_is_bound_before_everything_is_listed(site: Site, plural: str) -> None:
    site.pod("py-0", runs=1)
    site.run("full", pod="py-0", phase="Running")
    site.run("waits")
    ours = site.replica("ours")
    late(site, ours, plural, 5)
    await site.passes(4.9)
    assert not ours.leading
    await site.passes(10)
    assert ours.host.deciding
    assert site.pod_of("waits") is None
    assert site.traffic.binds == []


@pytest.mark.parametrize("end", [Replica.stop, Replica.crash], ids=["stops", "dies"])
@election_scene()
async def test_what_the_former_leader_bound_last_counts(
    site: Site, end: Callable[[Replica], Awaitable[None]]
) -> None:
    """The new leader's watch is late: it lists anew before it binds."""
    first, second = await site.pair()
    site.run("r1")
    site.run("r2")
    await site.passes(1)
    second.wire.deaf_to.add("runs")
    second.wire.slow_seconds = lambda what: 0.5 if what.verb == "get" else 0.0
    site.pod("py-0", runs=1)
    await site.until(lambda: site.pod_of("r1") == "py-0", 1)
    await end(first)
    await site.until(lambda: second.leading, 17)
    await site.passes(2)
    assert second.host.engine.find("team-a", "r1").observation.active  # type: ignore[union-attr]
    second.wire.deaf_to.clear()
    await site.passes(10)
    assert second.host.deciding
    assert site.pod_of("r2") is None
    # Not one bind was even tried in vain.
    assert 'kruntimes_scheduler_reservation_conflicts_total{stage="bind"} 0.0' in (
        second.host.metrics.exposition().decode()
    )


@election_scene()
async def test_decisions_wait_for_lists_that_began_after_the_lease_was_taken(site: Site) -> None:
    site.pod("py-0", runs=5)
    first, second = await site.pair()
    late(site, second, "runs", 5)
    site.run("r1")
    await site.passes(1)
    await first.stop()
    await site.until(lambda: second.leading, 1)
    site.run("r2")
    await site.passes(4.9)
    assert not second.host.deciding
    assert second.why_not_ready() == []
    await site.passes(1)
    assert site.pod_of("r2") == "py-0"
    shown = second.host.metrics.exposition().decode()
    assert "kruntimes_scheduler_catch_up_seconds 5.0" in shown


@pytest.mark.parametrize("plural", ["runs", "pods", "persistentworkspaces"])
@election_scene()
async def test_who_cannot_list_is_not_ready_and_leaves_the_lease_to_others(site: Site, plural: str) -> None:
    site.pod("py-0", runs=5)
    site.run("r1")
    blind = site.replica("blind")

    async def forbidden(call: Call) -> Response | None:
        what = target(call)
        return status(403, "Forbidden") if (what.verb, what.plural) == ("list", plural) else None

    blind.wire.after.append(forbidden)
    await site.passes(20)
    assert not blind.leading
    assert f"cannot list {plural}" in blind.why_not_ready()[0]
    assert blind.log.count("the lease is free, and not taken yet") == 1
    other = site.replica("other")
    await site.until(lambda: other.host.deciding, 5)
    blind.wire.after.clear()
    await site.passes(20)
    assert site.leaders() == ["other"]
    assert site.pod_of("r1") == "py-0"


@election_scene()
async def test_a_leader_that_can_follow_no_more_lets_another_lead(site: Site) -> None:
    site.pod("py-0", runs=5)
    first, second = await site.pair()

    async def broken(call: Call) -> Response | None:
        return status(500, "InternalError") if target(call).verb in ("list", "watch") else None

    first.wire.cut = True
    first.wire.after.append(broken)
    await site.passes(60)
    assert first.leading
    site.run("r1")
    await site.until(lambda: second.host.deciding, 90)
    assert site.leaders() == ["second"]
    said = [line for line in first.log.splitlines() if "the lease is not renewed any more" in line]
    # Once for each reason, though it is looked at twice a second.
    assert [line.partition("cannot watch ")[2].split(":")[0] for line in said] == [
        "persistentworkspaces.kruntimes.io",
        "pods",
    ]
    assert all(check.holds for check in first.host.alive())
    await site.passes(2)
    assert site.pod_of("r1") == "py-0"
