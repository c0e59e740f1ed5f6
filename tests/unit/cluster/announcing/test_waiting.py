"""Runs that wait: told of when that lasts, as a series while it does, and not when it is over."""

from __future__ import annotations

from memoryapi.events import AFTER, EventWay, Play
from memoryapi.site import Site

from kruntimes_core.cluster.announcing.reasons import CONTROLLER


def test_a_run_that_waits_for_long_has_an_event_with_the_words_of_its_status(announced: Play) -> None:
    async def scene(site: Site, way: EventWay) -> None:
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

    announced(scene)
