"""Each fault, seen from a client: what it does, how often, and that nothing else changes."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from embedded.api import new_api
from embedded.bodies import namespace_body, pod_body, run_body
from embedded.http import PODS, RUNS, Client, Reply, Serving, another_client, play, serving
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.faults.kinds import When
from kruntimes_core.lab.apiserver.faults.scope import Scope
from kruntimes_core.lab.apiserver.status import ApiError

STATUS = f"{RUNS}/r1/status"
BIND = Scope("patch", "runs", subresource="status")
BINDING: dict[str, Any] = {"status": {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "P0"}}


async def begin(site: Serving, *names: str) -> None:
    for name in names or ("r1",):
        assert (await site.client.post(RUNS, run_body(name))).status == 201


async def phase(client: Client, name: str = "r1") -> object:
    status = (await client.get(f"{RUNS}/{name}")).body.get("status", {})
    return status.get("phase")


def test_without_a_fault_nothing_happens() -> None:
    async def scene() -> None:
        async with serving(faults=Faults()) as site:
            await begin(site)
            assert (await site.client.merge(STATUS, BINDING)).status == 200

    play(scene)


def test_a_write_is_applied_and_its_answer_lost() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "r1", "r2")
            fault = site.faults.lose_answer(BIND)
            with pytest.raises(aiohttp.ClientError):
                await site.client.merge(STATUS, BINDING)
            assert await phase(site.client) == "Scheduled"
            assert fault.used == 1
            assert (await site.client.merge(f"{RUNS}/r2/status", BINDING)).status == 200
            assert [entry.code for entry in site.faults.log.calls("patch")] == [0, 200]

    play(scene)


def test_a_request_is_lost_before_anything_is_done() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            site.faults.lose_request(BIND)
            with pytest.raises(aiohttp.ClientError):
                await site.client.merge(STATUS, BINDING)
            assert await phase(site.client) is None

    play(scene)


def test_a_write_is_applied_and_answered_with_504() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            site.faults.time_out(BIND)
            reply = await site.client.merge(STATUS, BINDING)
            assert (reply.status, reply.body["reason"]) == (504, "Timeout")
            assert await phase(site.client) == "Scheduled"

    play(scene)


@pytest.mark.parametrize(
    ("code", "retry_after", "reason"),
    [
        (401, None, "Unauthorized"),
        (403, None, "Forbidden"),
        (429, 2, "TooManyRequests"),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", "TooManyRequests"),
        (429, "soon", "TooManyRequests"),
        (500, None, "InternalError"),
        (503, 1, "ServiceUnavailable"),
    ],
)
def test_a_verb_is_refused(code: int, retry_after: int | str | None, reason: str) -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            site.faults.refuse(Scope("list", "runs"), code, retry_after=retry_after, times=2)
            for _ in range(2):
                reply = await site.client.get(RUNS)
                assert (reply.status, reply.body["reason"]) == (code, reason)
                expected = None if retry_after is None else str(retry_after)
                assert reply.headers.get("Retry-After") == expected
            assert (await site.client.get(RUNS)).status == 200
            assert (await site.client.get(PODS)).status == 200

    play(scene)


def test_a_refused_watch_is_worded_as_rbac_words_it() -> None:
    async def scene() -> None:
        async with serving() as site:
            fault = site.faults.refuse(Scope("watch", "pods"), 403)
            refused = await site.client.get("/api/v1/pods?watch=true")
            assert (
                'cannot watch resource "pods" in API group "" at the cluster scope' in refused.body["message"]
            )
            assert (await site.client.get("/api/v1/pods")).status == 200
            fault.stop()
            async with site.client.watch(PODS):
                pass

    play(scene)


def test_a_write_of_one_object_is_held_and_lands_though_its_client_gave_up() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "r1", "r2")
            gate = site.faults.hold(Scope("patch", "runs", name="r1"))
            held = asyncio.ensure_future(site.client.merge(STATUS, BINDING))
            await gate.reached()
            assert (await site.client.merge(f"{RUNS}/r2/status", BINDING)).status == 200
            held.cancel()
            await asyncio.gather(held, return_exceptions=True)
            assert await phase(site.client) is None
            gate.open()
            while await phase(site.client) is None:
                pass
            assert await phase(site.client) == "Scheduled"

    play(scene)


def test_an_answer_is_held() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            gate = site.faults.hold(BIND, when=When.AFTER)
            held = asyncio.ensure_future(site.client.merge(STATUS, BINDING))
            await gate.reached()
            assert await phase(site.client) == "Scheduled"
            assert not held.done()
            gate.open()
            assert (await held).status == 200

    play(scene)


def test_a_write_takes_time() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        async with serving() as site:
            await begin(site)
            site.faults.slow(BIND, 0.05, times=1)
            begun = loop.time()
            assert (await site.client.merge(STATUS, BINDING)).status == 200
            assert loop.time() - begun >= 0.05

    play(scene)


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
                site.faults.black_hole()
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


def names(reply: Reply) -> list[str]:
    return [one["metadata"]["name"] for one in reply.body["items"]]


def test_a_limit_is_ignored() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "a", "b", "c")
            site.faults.ignore_limit(Scope("list", "runs"), times=1)
            whole = await site.client.get(f"{RUNS}?limit=1")
            assert (names(whole), whole.body["metadata"]["continue"]) == (["a", "b", "c"], "")
            assert names(await site.client.get(f"{RUNS}?limit=1")) == ["a"]

    play(scene)


def test_pages_come_short() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "a", "b", "c")
            site.faults.short_pages(Scope("list", "runs"), 1, times=1)
            short = await site.client.get(f"{RUNS}?limit=2")
            token = short.body["metadata"]["continue"]
            assert names(short) == ["a"]
            assert names(await site.client.get(f"{RUNS}?limit=2&continue={token}")) == ["b", "c"]

    play(scene)


def test_a_later_page_fails() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "a", "b")
            later = Scope("list", "runs", continued=True)
            token = (await site.client.get(f"{RUNS}?limit=1")).body["metadata"]["continue"]
            site.faults.refuse(later, 410, times=1)
            expired = await site.client.get(f"{RUNS}?limit=1&continue={token}")
            assert (expired.status, expired.body["reason"]) == (410, "Expired")
            # Twice, because this client asks once more by itself where a GET breaks.
            site.faults.lose_answer(later, times=2)
            with pytest.raises(aiohttp.ClientError):
                await site.client.get(f"{RUNS}?limit=1&continue={token}")
            assert names(await site.client.get(f"{RUNS}?limit=1&continue={token}")) == ["b"]

    play(scene)


def test_a_token_expires_as_on_a_real_server() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site, "a", "b")
            token = (await site.client.get(f"{RUNS}?limit=1")).body["metadata"]["continue"]
            await begin(site, "c")
            site.api.store.forget()
            expired = await site.client.get(f"{RUNS}?limit=1&continue={token}")
            assert (expired.status, "continue" in expired.body["metadata"]) == (410, True)

    play(scene)


def test_lists_of_version_zero_come_from_an_old_state() -> None:
    async def scene() -> None:
        async with serving() as site:
            await begin(site)
            old = site.api.store.version
            await site.client.merge(STATUS, BINDING)
            await begin(site, "r2")
            site.faults.old_lists(Scope("list", "runs"), old)
            lagging = await site.client.get(f"{RUNS}?resourceVersion=0")
            assert (names(lagging), lagging.body["metadata"]["resourceVersion"]) == (["r1"], str(old))
            assert "status" not in lagging.body["items"][0]
            assert names(await site.client.get(RUNS)) == ["r1", "r2"]

    play(scene)


def test_the_log_knows_every_request_and_the_size_of_its_body() -> None:
    async def scene() -> None:
        async with serving(faults=Faults(keep_bodies=True)) as site:
            await begin(site)
            await site.client.merge(STATUS, BINDING)
            await site.client.get("/healthz")
            (patch,) = site.faults.log.calls("patch", "runs")
            assert patch.call is not None
            assert (patch.call.name, patch.call.subresource, patch.code) == ("r1", "status", 200)
            assert (patch.method, patch.path, patch.content_type) == (
                "PATCH",
                STATUS,
                "application/merge-patch+json",
            )
            assert patch.body is not None
            assert patch.body_bytes == len(patch.body) < 200
            assert [entry.call for entry in site.faults.log if entry.path == "/healthz"] == [None]
            assert len(site.faults.log) == 3
            site.faults.log.clear()
            assert list(site.faults.log) == []

    play(scene)


def test_faults_may_share_one_server_with_direct_use() -> None:
    async def scene() -> None:
        api = new_api()
        async with serving(api) as site, site.client.watch(RUNS) as stream:
            runs = api.resources.named("runs")
            created = api.create(runs, "team-a", run_body()).object
            assert await stream.event() == {"type": "ADDED", "object": created}

    play(scene)
