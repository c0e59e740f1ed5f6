"""The pump gives way to the rest of the loop, also when nothing that it does has to be waited for."""

from __future__ import annotations

import asyncio

from virtual.site import Site, play
from virtual.time import InlinePlanner

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.scheduling_loop import SchedulingLoop
from kruntimes_core.framework.configuration import Profiles

PIECES = 20


def test_others_have_their_turns_while_the_last_work_is_finished(profiles: Profiles) -> None:
    """A limit on how long stopping takes, and the Lease, which goes on till then, are kept by the loop."""
    turns = 0
    done: list[int] = []

    def background_work() -> bool:
        if len(done) == PIECES:
            return False
        done.append(turns)
        return True

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def scene(site: Site) -> None:
        beside = asyncio.create_task(others())
        pump = SchedulingLoop(
            engine=site.host.engine,
            plugin_worker=InlinePlanner(),
            dispatcher=site.host.dispatcher,
            clock=site.clock,
            metrics=site.host.metrics,
            log=Log(site.lines, site.clock),
            wakeup=asyncio.Event(),
            background_work=background_work,
        )
        await pump.finish_work()
        beside.cancel()

    play(profiles, scene)
    assert len(set(done)) == PIECES
