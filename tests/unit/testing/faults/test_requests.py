"""Faults of single requests, seen from a client: what each does, how often, and that nothing else changes."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from embedded.api import new_api
from embedded.bodies import run_body
from embedded.http import PODS, RUNS, play, serving
from kruntimes_core.testing.faults import Faults, Scope, When
from tests.unit.testing.faults.scene import BIND, BINDING, STATUS, begin, phase


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


def test_the_log_knows_every_request_and_the_size_of_its_body() -> None:
    async def scene() -> None:
        async with serving(faults=Faults(keep_bodies=True)) as site:
            await begin(site)
            await site.client.merge(STATUS, BINDING)
            await site.client.get("/healthz")
            (patch,) = site.faults.log.calls("patch", "runs")
            request, info = patch.request, patch.request.info
            assert info is not None
            assert (info.name, info.subresource, patch.code) == ("r1", "status", 200)
            assert (request.method, request.path, request.content_type) == (
                "PATCH",
                STATUS,
                "application/merge-patch+json",
            )
            assert patch.body_bytes == len(request.body) < 200
            asked = [entry.request for entry in site.faults.log]
            assert [one.info for one in asked if one.path == "/healthz"] == [None]
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
