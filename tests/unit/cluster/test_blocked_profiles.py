"""Calls that do not return: the host leads while one profile can place Runs, and for a minute after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

import pytest
from virtual.site import Site, play
from virtual.time import InlinePlanner

from kruntimes_core.cluster.observability.endpoints import probe_text
from kruntimes_core.cluster.plugin_worker import Block, Done, not_begun
from kruntimes_core.engine.plugin_work import PluginWork, QueueKeyWork, RunWork, profile_of
from kruntimes_core.framework.profile import PluginError, Profile, Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.plugins import fake_plugin
from tests.unit.cluster.leader_election.site import Site as Replicas
from tests.unit.cluster.played import election_scene

ERROR = PluginError("Hanger", "acme-hanger 1.0", "filter", "did not return")


class HangingWorker(InlinePlanner):
    """A worker on which the calls of some profiles do not return."""

    def __init__(self, *profiles: str, hook: str = "filter") -> None:
        """profiles: their names. hook: `queue_key`, or any other one."""
        super().__init__()
        self.hanging = set(profiles)
        self.hook = hook
        self.blocks: list[Block] = []

    def block_of(self, profile: Profile, queue_profile: Profile | None) -> Block | None:
        for block in self.blocks:
            if block.profile is profile or (block.holds_queue and block.profile is queue_profile):
                return block
        return None

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work at once, unless it does not return."""
        profile, queue = profile_of(work), isinstance(work, QueueKeyWork)
        if profile.name not in self.hanging or (self.hook == "queue_key") is not queue:
            if isinstance(work, RunWork):
                self.worked_at = asyncio.get_running_loop().time()
            super().submit(work, done)
            return
        if all(one.profile is not profile for one in self.blocks):
            now = asyncio.get_running_loop().time()
            self.blocks.append(Block(profile, ERROR, now, holds_profile=True, holds_queue=queue))
        done(not_begun(work, ERROR))

    def calls_return(self) -> None:
        """All calls return, and none hangs from now on."""
        self.hanging.clear()
        self.blocks.clear()

    def keep(self, profiles: Collection[Profile]) -> None:
        """A thread that hangs stays, whatever is loaded."""


def two_profiles(profiles: Profiles) -> Profiles:
    """One for Runs of the Runtime `go`, one for all others."""
    plugins = profiles.all[0].plugins
    return Profiles(
        (Profile(plugins=plugins), Profile(name="go", plugins=plugins, runtimes=frozenset({"go"})))
    )


def dead(site: Site) -> list[str]:
    return [check.name for check in site.host.alive() if not check.holds]


def scene_of(profiles: Profiles, worker: HangingWorker, scene: Callable[[Site], Awaitable[None]]) -> None:
    async def started(site: Site) -> None:
        site.pod("py-0", runs=50)
        site.pod("go-0", runtime="go", runs=500)
        site.start()
        await site.passes(1)
        await scene(site)

    play(two_profiles(profiles), started, plugin_worker=worker)


def test_while_one_profile_can_place_the_host_is_alive_and_names_the_plugin(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.run("held")
        site.run("waits", runtime="go", requests={"gpu": 1})
        site.run("g1", runtime="go")
        await site.passes(180)
        site.run("g2", runtime="go")
        await site.passes(1)
        assert site.pod_of("g1") == site.pod_of("g2") == "go-0"
        assert dead(site) == []
        assert site.host.leadership.why_not_go_on() == ""
        assert "calls of Hanger do not return" in probe_text(site.host.ready(), verbose=False)

    scene_of(profiles, HangingWorker("default"), scene)


def test_a_profile_that_places_its_runs_at_once_keeps_the_host_alive(profiles: Profiles) -> None:
    """It has no pending Run whenever somebody looks."""

    async def scene(site: Site) -> None:
        site.run("held")
        for number in range(4):
            site.run(f"g{number}", runtime="go")
            await site.passes(30)
            assert dead(site) == []
        await site.passes(35)
        assert dead(site) == ["plugin-worker"]

    scene_of(profiles, HangingWorker("default"), scene)


def test_after_a_minute_without_a_profile_that_can_place_it_is_not_alive(profiles: Profiles) -> None:
    worker = HangingWorker("default", "go")

    async def scene(site: Site) -> None:
        site.run("held")
        site.run("g1", runtime="go")
        await site.passes(59)
        assert dead(site) == []
        await site.passes(2)
        assert dead(site) == ["plugin-worker"]
        why = site.host.leadership.why_not_go_on()
        assert why == "calls of Hanger do not return, and no pending run can be placed"
        assert site.host.leadership.why_not_begin() == why
        worker.calls_return()
        await site.passes(70)
        assert dead(site) == []
        assert site.pod_of("held") == "py-0"

    scene_of(profiles, worker, scene)


def test_a_blocked_profile_without_pending_runs_harms_nothing(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.run("held")
        await site.passes(1)
        site.delete("held")
        await site.passes(120)
        assert dead(site) == []

    scene_of(profiles, HangingWorker("default"), scene)


def test_what_another_leader_places_makes_it_no_fitter(profiles: Profiles) -> None:
    worker = HangingWorker("default")

    async def scene(site: Site) -> None:
        site.run("held")
        await site.passes(62)
        assert dead(site) == ["plugin-worker"]
        status = {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "uid-py-0"}
        site.change("held", NAMESPACE, status=status)
        await site.passes(60)
        assert dead(site) == ["plugin-worker"]
        worker.calls_return()
        assert dead(site) == []

    scene_of(profiles, worker, scene)


def test_a_reload_that_replaces_the_profile_ends_it(profiles: Profiles) -> None:
    worker = HangingWorker("default")

    async def scene(site: Site) -> None:
        site.run("held")
        await site.passes(62)
        assert dead(site) == ["plugin-worker"]
        worker.hanging.clear()
        site.host.reload(two_profiles(profiles))
        assert dead(site) == []
        assert "plugin-worker" not in probe_text(site.host.ready(), verbose=False)
        await site.passes(1)
        assert site.pod_of("held") == "py-0"

    scene_of(profiles, worker, scene)


def test_a_queue_key_that_hangs_blocks_every_profile(profiles: Profiles) -> None:
    plugin = fake_plugin("Order", queue_key=lambda run: run.name)
    worker = HangingWorker("default", hook="queue_key")
    both = two_profiles(profiles)
    ordered = Profiles((Profile(plugins=(*both.all[0].plugins, plugin)), both.all[1]))

    async def scene(site: Site) -> None:
        site.pod("go-0", runtime="go")
        site.start()
        site.run("g1", runtime="go")
        await site.passes(58)
        assert dead(site) == []
        await site.passes(5)
        assert dead(site) == ["plugin-worker"]

    play(ordered, scene, plugin_worker=worker)


@pytest.mark.parametrize("returns", [True, False])
@election_scene()
async def test_another_leads_and_this_one_does_not_stand_until_the_call_returns(
    site: Replicas, returns: bool
) -> None:
    site.pod("py-0", runs=50)
    worker = HangingWorker("default")
    first = site.replica("first", plugin_worker=worker)
    await site.passes(5)
    second = site.replica("second")
    site.more_runs(3)
    await site.passes(50)
    assert (first.leading, second.leading) == (True, False)
    await site.until(lambda: second.leading, 10 + 10 + 15 + 5)
    await site.passes(2)
    assert [site.pod_of(f"r000{number}") for number in (1, 2, 3)] == ["py-0"] * 3
    assert "calls of Hanger do not return" in first.log
    await second.stop()
    if returns:
        worker.calls_return()
    site.more_runs(1)
    await site.passes(120)
    assert first.leading is returns
    assert site.pod_of("r0004") == ("py-0" if returns else None)
    site.check()
