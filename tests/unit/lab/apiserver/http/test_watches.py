"""Watches over HTTP: how they begin, what they tell, and how they end."""

from __future__ import annotations

from contextlib import closing

from embedded.bodies import NAMESPACE, run_body
from embedded.place import serving
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer
from realcluster.client import RUNS, Client, Watch


def test_bookmarks_come_by_themselves_and_at_the_end() -> None:
    def watched(server: EmbeddedServer) -> Watch:
        client = Client(server.url)
        return client.watch(RUNS, NAMESPACE, seconds=1, resourceVersion=version, allowWatchBookmarks="true")

    with serving(bookmark_seconds=0.01) as server:
        version = server.api.store.version
        with closing(watched(server)) as watch:
            assert watch.next() == {
                "type": "BOOKMARK",
                "object": {
                    "kind": "Run",
                    "apiVersion": "kruntimes.io/v1alpha1",
                    "metadata": {"resourceVersion": str(version)},
                },
            }
    with serving() as server, closing(watched(server)) as watch:
        assert [one["type"] for one in watch] == ["BOOKMARK"]


def test_an_expired_version_is_an_event_in_a_good_answer() -> None:
    with serving() as server:
        start = server.api.store.version
        Client(server.url).create(RUNS, run_body(), NAMESPACE)
        server.api.store.forget()
        with closing(Client(server.url).watch(RUNS, NAMESPACE, resourceVersion=start)) as watch:
            (event,) = watch
        assert (watch.status, event["type"]) == (200, "ERROR")
        assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")


def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    with serving() as server:
        listeners = server.api.store.table("runs.kruntimes.io").history.listeners
        with closing(Client(server.url).watch(RUNS, NAMESPACE)):
            assert len(listeners) == 1
        # The next request is served after the server has noticed that the first connection is gone.
        while listeners:
            Client(server.url).request("GET", "/healthz")
