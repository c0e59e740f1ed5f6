"""Faults of watches and connections, seen from a client."""

from __future__ import annotations

import asyncio

from embedded.bodies import namespace_body, pod_body, run_body
from embedded.http import PODS, RUNS, another_client, play, serving
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.testing.faults import Scope
from tests.unit.testing.faults.scene import BIND, BINDING, STATUS, begin, phase


def test_a_watch_is_held_back_by_kind_and_then_told_in_order() -> None:
    async def scene() -> None:
        async with serving() as site:
            gate = site.faults.hold_watch("runs")
            async with site.client.watch(RUNS) as runs, site.client.watch(PODS) as pods:
                await begin(site, "a", "b")
                await site.client.post(PODS, pod_body())
                assert (await pods.event())["object"]["metadata"]["name"] == "py-0"
                first = asyncio.ensure_future(runs.event())
                await site.client.get("/healthz")
                assert not first.done()
                site.faults.release_watch(gate)
                names = [(await first)["object"]["metadata"]["name"]]
                names.append((await runs.event())["object"]["metadata"]["name"])
                assert names == ["a", "b"]

    play(scene)


def test_a_watch_is_held_back_by_namespace() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post("/api/v1/namespaces", namespace_body("other"))
            site.faults.hold_watch("runs", "team-a")
            other = RUNS.replace("team-a", "other")
            async with site.client.watch(RUNS) as held, site.client.watch(other) as free:
                await site.client.post(RUNS, run_body())
                await site.client.post(other, run_body("x"))
                assert (await free.event())["object"]["metadata"]["name"] == "x"
                waiting = asyncio.ensure_future(held.event())
                await site.client.get("/healthz")
                assert not waiting.done()
                waiting.cancel()

    play(scene)


def test_open_connections_go_silent_and_new_ones_work() -> None:
    async def scene() -> None:
        async with serving() as site, another_client(site.server) as other:
            await begin(site)
            async with site.client.watch(RUNS) as stream:
                assert (await stream.event())["type"] == "ADDED"
                gate = site.faults.hold(BIND)
                writing = asyncio.ensure_future(site.client.merge(STATUS, BINDING))
                await gate.reached()
                site.faults.black_hole(site.server.connections)
                gate.open()
                waiting = asyncio.ensure_future(stream.event())
                assert await phase(other) == "Scheduled"
                await other.get("/healthz")
                assert not waiting.done()
                assert not writing.done()
                for task in (waiting, writing):
                    task.cancel()
                await asyncio.gather(waiting, writing, return_exceptions=True)

    play(scene)


def test_an_error_in_the_stream_ends_it() -> None:
    async def scene() -> None:
        async with serving() as site:
            for code, reason in ((410, "Expired"), (500, "InternalError")):
                async with site.client.watch(RUNS) as stream:
                    site.faults.inject_error(Scope("watch", "runs"), ApiError(code, reason, "odd"))
                    (event,) = await stream.rest()
                    assert (event["type"], event["object"]["code"]) == ("ERROR", code)

    play(scene)


def test_a_410_as_an_answer() -> None:
    async def scene() -> None:
        async with serving() as site:
            site.faults.refuse(Scope("watch", "runs"), 410, times=1)
            assert (await site.client.get(f"{RUNS}?watch=true")).status == 410

    play(scene)


def test_bookmarks_on_demand_and_events_of_unknown_types() -> None:
    async def scene() -> None:
        async with serving() as site, site.client.watch(RUNS) as stream:
            site.faults.send_bookmarks(Scope("watch", "runs"))
            mark = await stream.event()
            assert (mark["type"], list(mark["object"]["metadata"])) == ("BOOKMARK", ["resourceVersion"])
            site.faults.inject(Scope("watch"), b'{"type":"NEWS","object":{}}\r\n\n')
            assert await stream.line() == b'{"type":"NEWS","object":{}}\r\n'
            assert await stream.line() == b"\n"
            await begin(site)
            assert (await stream.event())["type"] == "ADDED"

    play(scene)


def test_watches_end_cleanly() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            site.faults.end_next_watches(Scope("watch", "runs"), times=3)
            for _ in range(3):
                async with site.client.watch(RUNS) as stream:
                    assert await stream.rest() == []
            async with site.client.watch(RUNS) as stream:
                assert (await stream.event())["type"] == "ADDED"
                site.faults.end_watches(Scope("watch", "runs"))
                assert await stream.rest() == []

    play(scene)
