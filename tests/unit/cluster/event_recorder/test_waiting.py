"""Runs that wait: told of when that lasts, as a series while it does, and not when it is over."""

from __future__ import annotations

import pytest
from memoryapi.events import AFTER, REPEAT, EventWay, recorder_of
from memoryapi.site import Site

from kruntimes_core.cluster.event_recorder.event import CONTROLLER, Lane
from kruntimes_core.cluster.event_recorder.sources import NEVER
from kruntimes_core.testing.objects import affinity_object, term_object
from tests.unit.cluster.played import event_scene


@event_scene()
async def test_a_run_that_waits_for_long_has_an_event_with_the_words_of_its_status(
    site: Site, way: EventWay
) -> None:
    site.start()
    site.run("r1")
    await site.passes(AFTER - 0.5)
    assert way.calls == []
    await site.passes(2)
    (event,) = way.of("r1")
    assert event["note"] == site.status("r1")["message"]
    assert event["reason"] == "FailedScheduling"
    assert event["type"] == "Warning"
    assert event["action"] == "Scheduling"
    assert event["reportingController"] == CONTROLLER
    assert event["reportingInstance"] == "host_1"
    assert event["metadata"]["namespace"] == "team-a"
    assert event["regarding"] == {
        "apiVersion": "kruntimes.io/v1alpha1",
        "kind": "Run",
        "namespace": "team-a",
        "name": "r1",
        "uid": site.server.get("Run", "team-a", "r1")["metadata"]["uid"],
    }
    assert "series" not in event
    assert "related" not in event


@event_scene()
async def test_while_it_waits_its_event_is_counted_on_and_no_other_made(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(AFTER + 2.5 * REPEAT)
    assert way.said() == [("r1", "FailedScheduling", 3)]
    assert [call.method for _, call in way.calls] == ["POST", "PATCH", "PATCH"]
    (event,) = way.events
    assert event["series"]["lastObservedTime"] > event["eventTime"]


@event_scene()
async def test_one_that_is_placed_in_time_makes_none(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(AFTER - 1)
    site.pod("py-0")
    await site.passes(3 * AFTER)
    assert site.pod_of("r1") == "py-0"
    assert way.calls == []


@event_scene()
async def test_one_that_is_placed_at_once_is_never_watched(site: Site, way: EventWay) -> None:
    site.pod("py-0", runs=50)
    site.start()
    for number in range(50):
        site.run(f"r{number}")
    await site.passes(1)
    assert recorder_of(site).lengths == {"at_once": 0, "lasting": 0, "placements": 0}
    await site.passes(2 * AFTER)
    assert way.calls == []


@pytest.mark.parametrize("seen", [True, False])
@event_scene()
async def test_one_that_is_gone_makes_none(site: Site, way: EventWay, seen: bool) -> None:
    site.start()
    site.run("r1")
    await site.passes(1)
    if not seen:
        # Only the next list shows that it is gone: nobody tells of it.
        for stream in site.api.streams:
            stream.silent = stream.plural == "runs"
    site.delete("r1")
    if not seen:
        for stream in site.api.streams:
            stream.cut, stream.silent = True, False
        site.api.oldest = 10_000
        await site.passes(0.1)
        site.api.oldest = 0
    await site.passes(AFTER + 2)
    assert way.calls == []
    assert recorder_of(site).lengths[Lane.LASTING] == 0


@event_scene()
async def test_a_successor_of_the_same_name_begins_anew(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1", uid="one")
    await site.passes(AFTER - 1)
    site.delete("r1")
    site.run("r1", uid="other")
    await site.passes(AFTER - 1)
    assert way.calls == []
    await site.passes(3)
    assert [event["regarding"]["uid"] for event in way.events] == ["other"]


@event_scene()
async def test_one_that_waits_again_for_the_same_goes_on_with_its_event(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(AFTER + 1)
    site.pod("py-0")
    await site.passes(1)
    site.change("r1", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None})
    site.delete("py-0", kind="Pod")
    await site.passes(AFTER + 2)
    assert way.said() == [("r1", "FailedScheduling", 2)]


@event_scene()
async def test_another_text_is_another_event(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1", affinity=affinity_object(required=[term_object({"app": "db"})]))
    await site.passes(AFTER + 1)
    site.pod("py-0")
    await site.passes(REPEAT + 1)
    notes = [event["note"] for event in way.of("r1")]
    assert len(set(notes)) == 2
    assert notes[-1] == site.status("r1")["message"]


@event_scene()
async def test_one_that_no_pod_could_ever_hold_says_so(site: Site, way: EventWay) -> None:
    site.pod("py-0", runs=4)
    site.start()
    site.run("r1", requests={"runs": 5})
    await site.passes(AFTER + 2)
    (event,) = way.of("r1")
    assert event["reason"] == "NeverFits"
    assert event["note"] == f"{site.status('r1')['message']}: {NEVER}"
    # A Pod that is large enough, though it is not ready: from now on waiting may help.
    site.pod("py-1", runs=9, ready=False)
    await site.passes(REPEAT)
    assert [event["reason"] for event in way.of("r1")] == ["NeverFits", "FailedScheduling"]


@event_scene()
async def test_an_event_that_the_server_has_forgotten_is_created_again(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(AFTER + 1)
    way.forget()
    await site.passes(REPEAT + 1)
    assert way.said() == [("r1", "FailedScheduling", 1)]


@event_scene()
async def test_two_namespaces_have_their_own_events(site: Site, way: EventWay) -> None:
    way.namespace("team-b")
    site.start()
    for namespace in ("team-a", "team-b"):
        site.run("r1", namespace=namespace, uid=namespace)
    await site.passes(AFTER + 2)
    assert sorted(event["metadata"]["namespace"] for event in way.of("r1")) == ["team-a", "team-b"]


@event_scene(per_second=0)
async def test_without_a_wish_for_events_there_is_nothing_of_them(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(2 * AFTER)
    assert way.calls == []
    assert "kruntimes_scheduler_events_total" not in site.host.metrics.exposition().decode()
