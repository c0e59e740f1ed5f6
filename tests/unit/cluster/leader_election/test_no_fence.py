"""What no election can prevent: a bind that a network held back for longer than the Lease."""

from __future__ import annotations

from replicas.replica import Replica
from replicas.site import Site

from tests.unit.cluster.played import election_scene


async def _bind_is_held_back(site: Site, first: Replica) -> None:
    """The leader binds `late` to the last slot, the network keeps that for 25 s, and the leader dies."""
    site.run("late")
    await site.passes(1)
    assert site.status("late")["message"]
    first.wire.held_seconds = lambda what: 25.0 if what.verb == "patch" else 0.0
    site.end("r0001")
    await site.passes(0.1)
    await first.crash()
    assert site.pod_of("late") is None


@election_scene()
async def test_a_late_bind_of_a_run_that_went_on_fails(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, second = await site.pair()
    site.more_runs(1)
    await site.passes(1)
    await _bind_is_held_back(site, first)
    await site.until(lambda: site.pod_of("late") is not None, 20)
    await site.passes(15)
    assert [bind.replica for bind in site.traffic.binds] == ["first", "second"]
    assert second.host.oversold_pods.count == 0


@election_scene()
async def test_a_late_bind_beside_another_run_is_counted_and_told(site: Site) -> None:
    site.pod("py-0", runs=1)
    first, second = await site.pair()
    site.more_runs(1)
    await site.passes(1)
    await second.stop()
    await _bind_is_held_back(site, first)
    site.run("early")
    third = site.replica("third")
    await site.until(lambda: site.pod_of("early") == "py-0", 20)
    assert third.host.oversold_pods.count == 0
    await site.passes(15)
    assert site.pod_of("late") == "py-0"
    assert third.host.oversold_pods.count == 1
    assert "a pod holds more than it has pod=team-a/py-0 resources=runs" in third.log
    assert "kruntimes_scheduler_oversold_pods_total 1.0" in third.host.metrics.exposition().decode()
    (broken,) = site.traffic.broken
    assert "pod py-0 holds {'runs': 2}" in broken
    # It is one event, however often the Runs are seen; and it can come again.
    site.change("late", status={"phase": "Running"})
    await site.passes(1)
    assert third.host.oversold_pods.count == 1
    site.end("late")
    await site.passes(1)
    site.change("late", status={"phase": "Running"})
    await site.passes(1)
    assert third.host.oversold_pods.count == 2
    site.traffic.broken.clear()
