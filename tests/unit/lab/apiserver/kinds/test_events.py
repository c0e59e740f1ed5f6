"""Events, one object that is seen through two groups."""

from __future__ import annotations

import pytest

from embedded.api import Site, causes, refusal
from embedded.bodies import Object, event_body
from kruntimes_core.lab.apiserver.kinds.strategy import STRATEGIC
from kruntimes_core.lab.apiserver.server import ApiServer


def test_an_event_is_one_object_seen_through_two_groups(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    watch = old.watch(resource_version=str(api.store.version))
    created = new.create(event_body())
    seen = old.get("e1")
    assert (created["apiVersion"], seen["apiVersion"]) == ("events.k8s.io/v1", "v1")
    assert seen["message"] == created["note"] == "assigned to runtime pod py-0"
    assert seen["involvedObject"] == created["regarding"]
    assert seen["reportingComponent"] == created["reportingController"] == "kruntimes.io/scheduler"
    assert (seen["source"], seen["firstTimestamp"], seen["lastTimestamp"]) == ({}, None, None)
    assert created["deprecatedSource"] == {}
    assert "reportingController" not in seen
    assert [event.type for event in watch.pending()] == ["ADDED"]
    old.delete("e1")
    assert refusal(lambda: new.get("e1")).code == 404


def test_an_old_event_is_read_through_the_new_group(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    old.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e1"},
            "involvedObject": {"kind": "Run", "namespace": "team-a", "name": "r1"},
            "reason": "X",
            "message": "m",
            "type": "Warning",
            "count": 2,
            "source": {"component": "c"},
            "firstTimestamp": "2026-01-02T03:04:05Z",
        }
    )
    seen = new.get("e1")
    assert (seen["note"], seen["deprecatedCount"], seen["deprecatedSource"]) == ("m", 2, {"component": "c"})
    assert (seen["eventTime"], seen["deprecatedLastTimestamp"]) == (None, None)
    assert not {"reportingController", "reportingInstance", "message"} & set(seen)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"action": None}, {"action"}),
        ({"reason": ""}, {"reason"}),
        ({"reportingController": None}, {"reportingController"}),
        ({"reportingController": "a b"}, {"reportingController"}),
        ({"reportingInstance": "x" * 129}, {"reportingInstance"}),
        ({"note": "x" * 1025}, {"message"}),
        ({"type": "Odd"}, {"type"}),
        ({"regarding": {"kind": "Run"}}, {"involvedObject.namespace"}),
        ({"deprecatedCount": 3}, {"count"}),
        ({"series": {"count": 1}}, {"series.count", "series.lastObservedTime"}),
        ({"eventTime": None}, {"eventTime"}),
    ],
)
def test_the_new_group_is_strict(api: ApiServer, change: Object, fields: set[str]) -> None:
    error = refusal(lambda: Site(api, "events", "events.k8s.io").create(event_body(**change)))
    assert error.code == 422
    assert {field for field, _ in causes(error)} == fields
    assert error.message.startswith('Event "e1" is invalid: ')


def test_the_old_group_is_lenient(api: ApiServer) -> None:
    old = Site(api, "events", "")
    body: Object = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"}}
    about = {"kind": "Run", "namespace": "team-a"}
    assert old.create({**body, "involvedObject": about})["reportingInstance"] == ""
    error = refusal(lambda: old.create({**body, "involvedObject": {**about, "namespace": "other"}}))
    assert causes(error) == {("involvedObject.namespace", "FieldValueInvalid")}


def test_of_an_event_only_the_series_may_change(api: ApiServer) -> None:
    new = Site(api, "events", "events.k8s.io")
    new.create(event_body())
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000000Z"}
    assert new.patch("e1", STRATEGIC, {"series": series})["series"] == series
    assert causes(refusal(lambda: new.merge("e1", {"note": "other"}))) == {("message", "FieldValueInvalid")}


def test_events_are_selected_by_what_they_are_about(api: ApiServer) -> None:
    new, old = Site(api, "events", "events.k8s.io"), Site(api, "events", "")
    new.create(event_body("a"))
    new.create(event_body("b", regarding={"kind": "Run", "namespace": "team-a", "name": "r2"}))
    assert old.names(field_selector="involvedObject.name=r2,involvedObject.kind=Run") == ["b"]
    assert old.names(field_selector="source=kruntimes.io/scheduler,type=Normal") == ["a", "b"]
    assert new.names(field_selector="regarding.name=r1,reason=Assigned") == ["a"]
    assert refusal(lambda: new.names(field_selector="involvedObject.name=r1")).code == 400
