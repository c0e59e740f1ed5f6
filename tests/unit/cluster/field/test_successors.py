"""C3, C6: objects that went and came again under their names while something was on its way for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from memoryapi.calls import target
from memoryapi.site import Site, play
from virtual.planning import InlinePlanner

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.plugin_worker import Done, PluginWork
from kruntimes_core.engine.plugin_work import PlanWork
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import PODS, RUNS
from tests.unit.cluster.played import scheduler_scene

HELD_SECONDS = 2.0


@pytest.mark.parametrize("order", ["deleted, added", "added, deleted"])
@scheduler_scene()
async def test_a_write_for_a_run_that_is_gone_never_changes_its_successor(site: Site, order: str) -> None:
    """The write takes 3 s; the second Run asks for less, so that the room shows whose it is."""
    await _with_a_bind_under_way(site)
    site.run("r1", uid="U2", requests={"gpu": 1})
    if order == "added, deleted":
        told = site.server.events[RUNS]
        told[-2:] = reversed(told[-2:])
    await site.passes(10)
    assert site.server.invariants.binds == {("U2", 1): 1}
    assert site.status("r1")["assignedPodUID"] == "uid-py-0"
    pods = site.host.engine.cache.snapshot("team-a", "py", site.clock.now().wall).pods
    assert dict(pods["py-0"].usage) == {"runs": 1, "gpu": 1}
    assert site.host.engine.sizes["runs"] == 1


async def _with_a_bind_under_way(site: Site) -> None:
    """The bind of `r1` with the UID U1, which takes the whole Pod, is on its way for 3 s."""
    delays = [3.0]

    async def slow(call: Call) -> Response | None:
        if target(call).verb == "patch" and delays:
            await asyncio.sleep(delays.pop())
        return None

    site.pod("py-0", runs=2, capacity={"gpu": "3"})
    site.api.faults.append(slow)
    site.start()
    await site.passes(1)
    site.run("r1", uid="U1", requests={"gpu": 3})
    await site.passes(1)
    assert site.host.dispatcher.in_flight == 1


class Slow(InlinePlanner):
    """A plugin holds each cycle for 2 s: it sees what was so at its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.free = True
        self.begun = 0

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work now, and tell of it later."""
        if not isinstance(work, PlanWork):
            super().submit(work, done)
            return
        result = work.execute(self._runners)
        self.free = False
        self.begun += 1

        def tell() -> None:
            self.free = True
            done(result)

        asyncio.get_running_loop().call_later(HELD_SECONDS, tell)


def _replaced(site: Site) -> None:
    site.delete("py-0", kind=PODS)
    site.pod("py-0", uid="P0b", runs=1, ready=False)


def _not_ready(site: Site) -> None:
    site.ready("py-0", False)


def _nothing(site: Site) -> None:
    """Its heartbeat runs out by itself."""


@pytest.mark.parametrize(
    ("change", "began_at"),
    [(_replaced, 1.0), (_not_ready, 1.0), (_nothing, 14.0)],
    ids=["replaced", "not ready", "no heartbeat"],
)
def test_a_pod_that_changed_while_a_plugin_held_the_cycle_gets_nothing(
    profiles: Profiles, change: Callable[[Site], None], began_at: float
) -> None:
    planner = Slow()

    async def scene(site: Site) -> None:
        site.pod("py-0", uid="P0", runs=1, beating=change is not _nothing)
        site.start()
        await site.passes(began_at)
        site.run("r1")
        await site.passes(0.5)
        assert planner.begun == 1
        change(site)
        await site.passes(10)
        assert site.pod_of("r1") is None
        assert not site.server.invariants.binds

    play(profiles, scene, plugin_worker=planner)


@scheduler_scene(plugin_worker=Slow())
async def test_a_run_that_was_to_go_to_the_former_pod_goes_to_its_successor_once_that_is_ready(
    site: Site,
) -> None:
    site.pod("py-0", uid="P0", runs=1)
    site.start()
    await site.passes(1)
    site.run("r1")
    await site.passes(0.5)
    _replaced(site)
    # It names the Pod that is gone, and takes no room of the one that bears its name now.
    site.run("lost", pod="py-0", pod_uid="P0")
    await site.passes(5)
    site.ready("py-0", True)
    await site.passes(2 * HELD_SECONDS + 2)
    assert site.status("r1")["assignedPodUID"] == "P0b"
    assert site.server.invariants.binds.total() == 1
