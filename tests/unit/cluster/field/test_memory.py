"""E10: what is kept of large Runs, and that nothing is kept of Runs that are gone."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import tracemalloc
from collections.abc import AsyncGenerator
from random import Random

from memoryapi.calls import target
from memoryapi.site import Site
from virtual.planning import InlinePlanner
from virtual.time import VirtualClock, run_virtual

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.objects import pod_object, run_object
from tests.unit.cluster.played import scheduler_scene

RUNS, UPDATES = 2_500, 1_000
SOURCE, MANAGED_FIELDS = 200_000, 20_000
MEGABYTE = 1_000_000


def template(source: int, managed_fields: int) -> bytes:
    """An active Run as bytes, with words where its number and its version belong."""
    made = run_object(
        "r-NUMBER",
        uid="NUMBER",
        version="VERSION",
        pod="py-0",
        spec={"source": {"inline": "x" * source}, "env": [{"name": "A", "value": "y" * 1_000}]},
        status={"outputs": {"a": "z" * 1_000}},
        metadata={"managedFields": [{"manager": "m" * managed_fields}]},
    )
    return json.dumps(made).encode()


LARGE, SMALL = template(SOURCE, MANAGED_FIELDS), template(10, 10)


class LargeRuns:
    """A server with large Runs, which it makes when they are asked for and keeps nowhere."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[bytes] = asyncio.Queue()
        self._version = 10

    def tell(self, kind: bytes, made_of: bytes, number: int) -> None:
        """Let the watch tell of a Run."""
        event = b'{"type": "%s", "object": %s}\n'
        self.events.put_nowait(event % (kind, self._run(made_of, number)))

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        if target(call).plural == "pods":
            return self._page([json.dumps(pod_object("py-0", capacity={"runs": "9000"})).encode()], b"")
        if target(call).plural != "runs":
            return self._page([], b"")
        query = dict(call.query)
        start = int(query.get("continue", 0))
        end = min(start + int(query["limit"]), RUNS)
        return self._page(
            [self._run(LARGE, n) for n in range(start, end)], b"%d" % end if end < RUNS else b""
        )

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        yield b""
        silence: asyncio.Queue[bytes] = asyncio.Queue()
        events = self.events if target(call).plural == "runs" else silence
        while True:
            yield await events.get()

    async def close(self) -> None:
        """See `Transport`."""

    def _run(self, made_of: bytes, number: int) -> bytes:
        self._version += 1
        return made_of.replace(b"NUMBER", b"%d" % number).replace(b"VERSION", b"%d" % self._version)

    def _page(self, items: list[bytes], token: bytes) -> Response:
        head = b'{"metadata": {"resourceVersion": "10", "continue": "%s"}, "items": [%s]}'
        return Response(200, head % (token, b",".join(items)))


def test_thousands_of_large_runs_cost_little_and_leave_nothing(profiles: Profiles) -> None:
    """Half a gigabyte passes through; every tenth update is as large as what was listed."""

    async def main() -> None:
        api, clock = LargeRuns(), VirtualClock(NOW)
        host = _host(profiles, api, clock)
        running = asyncio.create_task(host.run())
        await asyncio.sleep(0)
        before, sizes = _traced(), host.engine.sizes
        await asyncio.sleep(5)
        assert host.engine.sizes["allocations"] == RUNS
        for number in range(UPDATES):
            api.tell(b"MODIFIED", SMALL if number % 10 else LARGE, number % RUNS)
            await asyncio.sleep(0.001)
        known = _traced()
        for number in range(RUNS):
            api.tell(b"DELETED", SMALL, number)
        await asyncio.sleep(70)
        after = _traced()
        peak = tracemalloc.get_traced_memory()[1]
        assert host.engine.sizes == {**sizes, "timers": host.engine.sizes["timers"]}
        # Some hundred bytes of each Run, of 220,000: no source, no managed fields, no outputs.
        assert known - before < RUNS * 2_500
        assert after - before < 2 * MEGABYTE
        assert peak - before < 150 * MEGABYTE
        host.stop()
        await running

    tracemalloc.start()
    try:
        run_virtual(main())
    finally:
        tracemalloc.stop()


def _host(profiles: Profiles, api: LargeRuns, clock: VirtualClock) -> Scheduler:
    return Scheduler(
        profiles=profiles,
        settings=Settings(),
        transport=api,
        clock=clock,
        random=Random(1),
        plugin_worker=InlinePlanner(),
        leadership=AlwaysLeading(),
        log=Log(io.StringIO(), clock),
    )


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@scheduler_scene()
async def test_a_thousand_runs_that_come_and_go_leave_no_entry_anywhere(site: Site) -> None:
    """They are deleted while they wait, while they are bound, and in their delay or backoff."""
    site.pod("py-0", runs=2)
    site.start()
    await site.passes(1)
    before = site.host.engine.sizes
    for number in range(1_000):
        delayed = {"attempt": 3, "conditions": [{"type": "Running", "status": "False"}]}
        fields = {"requests": {"gpu": 1}} if number % 3 == 0 else {}
        site.run(f"r{number}", uid=f"U{number}", status=delayed if number % 3 == 1 else {}, **fields)
        await site.passes(0.05)
        site.delete(f"r{number}")
    await site.passes(61)
    assert site.host.engine.sizes == before
    assert site.host.dispatcher.in_flight == 0
