"""A host follows the server, places what waits, and says what became of it."""

from __future__ import annotations

from memoryapi.site import Site, play

from kruntimes_core import Reject
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.played import scheduler_scene


@scheduler_scene()
async def test_runs_are_bound_wait_and_are_woken(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.run("r1")
    site.run("r2")
    site.start()
    await site.passes(1)
    assert site.pod_of("r1") == "py-0"
    assert site.status("r2")["message"] == 'waiting for available runtime pods for runtime "py"'
    site.end("r1")
    await site.passes(1)
    assert site.pod_of("r2") == "py-0"
    assert site.why_not_ready() == []


def test_what_waits_is_tried_again_by_profiles_that_are_loaded_meanwhile() -> None:
    closed = fake_plugin("Shut", filter=lambda pod: Reject("Closed"), reasons=["Closed"])

    async def scene(site: Site) -> None:
        site.pod("py-0", runs=1)
        site.run("r")
        site.start()
        await site.passes(1)
        assert site.pod_of("r") is None
        site.host.reload(profiles_of(fake_plugin("Open", filter=lambda pod: None, reasons=["Full"])))
        await site.passes(1)
        assert site.pod_of("r") == "py-0"
        shown = site.host.metrics.exposition().decode()
        assert 'pending_run_wakeups_total{source="reload"} 1.0' in shown
        assert 'filter_rejections_total{plugin="Open",reason="Full"} 0.0' in shown
        assert 'filter_rejections_total{plugin="Shut",reason="Closed"} 1.0' in shown

    play(profiles_of(closed), scene)
