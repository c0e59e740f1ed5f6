"""Watches over HTTP: how they begin, what they tell, and how they end."""

from __future__ import annotations

from embedded.bodies import run_body
from embedded.http import RUNS, play, serving


def test_bookmarks_come_by_themselves_and_at_the_end() -> None:
    async def scene() -> None:
        async with serving(bookmark_seconds=0.01) as site:
            version = site.api.store.version
            query = f"resourceVersion={version}&allowWatchBookmarks=true"
            async with site.client.watch(RUNS, query) as stream:
                mark = await stream.event()
                assert mark == {
                    "type": "BOOKMARK",
                    "object": {
                        "kind": "Run",
                        "apiVersion": "kruntimes.io/v1alpha1",
                        "metadata": {"resourceVersion": str(version)},
                    },
                }
        async with serving() as site:
            query = f"resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"
            async with site.client.watch(RUNS, query) as stream:
                assert [one["type"] for one in await stream.rest()] == ["BOOKMARK"]

    play(scene)


def test_an_expired_version_is_an_event_in_a_good_answer() -> None:
    async def scene() -> None:
        async with serving() as site:
            start = site.api.store.version
            await site.client.post(RUNS, run_body())
            site.api.store.forget()
            async with site.client.watch(RUNS, f"resourceVersion={start}") as stream:
                (event,) = await stream.rest()
            assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
                "ERROR",
                410,
                "Expired",
            )

    play(scene)


def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    async def scene() -> None:
        async with serving() as site:
            listeners = site.api.store.table("runs.kruntimes.io").history.listeners
            async with site.client.watch(RUNS):
                assert len(listeners) == 1
            # The next request is served after the server has noticed that the first connection is gone.
            while listeners:
                await site.client.get("/healthz")

    play(scene)
