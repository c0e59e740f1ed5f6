"""Watches without a network: where they begin, what they tell, and when they are lost."""

from __future__ import annotations

import pytest

from embedded.api import Site, new_api, refusal, told
from embedded.bodies import namespace_body, pod_body, run_body
from kruntimes_core.lab.apiserver.requests import ListOptions


@pytest.fixture
def runs() -> Site:
    return Site(new_api(), "runs")


def version(runs: Site) -> str:
    return str(runs.api.store.version)


def test_a_watch_from_a_version_tells_what_is_later(runs: Site) -> None:
    runs.create(run_body("old"))
    watch = runs.watch(resource_version=version(runs))
    assert told(watch) == []
    runs.create(run_body("new"))
    runs.merge("new", {"status": {"phase": "Running"}}, "status")
    runs.delete("old")
    assert told(watch) == [("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "old")]
    assert told(watch) == []


def test_a_watch_tells_nothing_of_other_kinds_and_namespaces(runs: Site) -> None:
    Site(runs.api, "namespaces").create(namespace_body("other"))
    watch = runs.watch(resource_version=version(runs))
    everywhere = runs.api.watch(
        runs.resource, None, ListOptions(resource_version=version(runs)), lambda: None
    )
    Site(runs.api, "pods").create(pod_body())
    runs.api.create(runs.resource, "other", run_body("x"))
    assert told(watch) == []
    assert told(everywhere) == [("ADDED", "x")]


def test_a_watch_from_a_forgotten_version_is_lost(runs: Site) -> None:
    start = version(runs)
    runs.create(run_body())
    runs.api.store.forget()
    error = refusal(lambda: runs.watch(resource_version=start))
    assert (error.code, error.reason) == (410, "Expired")
    assert error.message == f"too old resource version: {start} ({version(runs)})"


def test_a_watch_that_has_seen_everything_is_not_lost_when_the_past_is_forgotten(runs: Site) -> None:
    watch = runs.watch(resource_version=version(runs))
    Site(runs.api, "pods").create(pod_body())
    runs.api.store.forget()
    assert told(watch) == []
    runs.create(run_body())
    assert told(watch) == [("ADDED", "r1")]


def test_a_watch_follows_the_versions_of_other_kinds(runs: Site) -> None:
    watch = runs.watch(resource_version=version(runs))
    Site(runs.api, "pods").create(pod_body())
    assert (watch.pending(), watch.version) == ([], runs.api.store.version)


def test_a_watch_that_is_not_read_is_lost_when_the_history_moves_on() -> None:
    runs = Site(new_api(history_limit=3), "runs")
    watch = runs.watch(resource_version=version(runs))
    for number in range(4):
        runs.create(run_body(f"r{number}"))
    assert refusal(watch.pending).code == 410


def test_a_watch_from_the_future_waits(runs: Site) -> None:
    watch = runs.watch(resource_version=str(runs.api.store.version + 1))
    runs.create(run_body("a"))
    assert told(watch) == []
    runs.create(run_body("b"))
    assert told(watch) == [("ADDED", "b")]


def test_the_listener_is_called_for_its_kind_until_the_watch_is_closed(runs: Site) -> None:
    called: list[int] = []
    options = ListOptions(resource_version=version(runs))
    watch = runs.api.watch(runs.resource, "team-a", options, lambda: called.append(1))
    runs.create(run_body("a"))
    Site(runs.api, "pods").create(pod_body())
    assert called == [1]
    watch.close()
    runs.create(run_body("b"))
    assert called == [1]


def test_a_deleted_and_recreated_object_is_told_in_order(runs: Site) -> None:
    first = runs.create(run_body())
    watch = runs.watch(resource_version=version(runs))
    runs.delete("r1")
    second = runs.create(run_body())
    events = watch.pending()
    uids = [event.stored.object["metadata"]["uid"] for event in events]
    assert [event.type for event in events] == ["DELETED", "ADDED"]
    assert uids == [first["metadata"]["uid"], second["metadata"]["uid"]]
