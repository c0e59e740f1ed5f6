"""A host follows the server, places what waits, and says what became of it."""

from __future__ import annotations

from memoryapi.site import Site, play

from kruntimes_core.framework.configuration import Profiles


def test_runs_are_bound_wait_and_are_woken(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
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

    play(profiles, scene)
