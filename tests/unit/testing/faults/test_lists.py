"""Faults of lists, seen from a client."""

from __future__ import annotations

import aiohttp
import pytest

from embedded.http import RUNS, Reply, play, serving
from kruntimes_core.testing.faults import Scope
from tests.unit.testing.faults.scene import BINDING, STATUS, begin


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
