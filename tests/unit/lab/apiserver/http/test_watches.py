"""Watches over HTTP: how they begin, what they tell, and how they end."""

from __future__ import annotations

from embedded.bodies import pod_body, run_body
from embedded.http import PODS, RUNS, TABLE, play, serving


def test_a_watch_tells_what_happens() -> None:
    async def scene() -> None:
        async with serving() as site:
            version = (await site.client.get(RUNS)).body["metadata"]["resourceVersion"]
            async with site.client.watch(RUNS, f"resourceVersion={version}") as stream:
                created = await site.client.post(RUNS, run_body())
                assert await stream.event() == {"type": "ADDED", "object": created.body}
                patched = await site.client.merge(f"{RUNS}/r1/status", {"status": {"message": "ü"}})
                assert await stream.event() == {"type": "MODIFIED", "object": patched.body}
                await site.client.send("DELETE", f"{RUNS}/r1")
                assert (await stream.event())["type"] == "DELETED"

    play(scene)


def test_a_watch_begins_with_what_is_there_and_ends_in_time() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body("b"))
            await site.client.post(RUNS, run_body("a"))
            async with site.client.watch(RUNS, "timeoutSeconds=1") as stream:
                events = await stream.rest()
            assert [(one["type"], one["object"]["metadata"]["name"]) for one in events] == [
                ("ADDED", "a"),
                ("ADDED", "b"),
            ]

    play(scene)


def test_a_watch_can_say_where_the_beginning_ends() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(PODS, pod_body())
            query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            async with site.client.watch(PODS, query) as stream:
                assert (await stream.event())["type"] == "ADDED"
                mark = await stream.event()
                assert mark["type"] == "BOOKMARK"
                assert mark["object"]["metadata"] == {
                    "resourceVersion": str(site.api.store.version),
                    "annotations": {"k8s.io/initial-events-end": "true"},
                }
                assert (mark["object"]["spec"], mark["object"]["status"]) == ({"containers": None}, {})

    play(scene)


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


def test_a_watch_of_tables_shows_its_columns_once() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body("a"))
            await site.client.post(RUNS, run_body("b"))
            async with site.client.watch(RUNS, Accept=TABLE) as stream:
                first, second = [(await stream.event())["object"] for _ in range(2)]
            assert first["columnDefinitions"][0]["name"] == "Name"
            assert second["columnDefinitions"] is None
            assert [table["rows"][0]["cells"][0] for table in (first, second)] == ["a", "b"]

    play(scene)


def test_the_old_form_of_a_watch_is_understood() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body())
            old = RUNS.replace("/v1alpha1/", "/v1alpha1/watch/")
            async with site.client.watch(old) as stream:
                assert (await stream.event())["type"] == "ADDED"

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
