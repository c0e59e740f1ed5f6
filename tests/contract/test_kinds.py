"""The kinds that come with the API server: Events, Leases, Namespaces and CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

from contract import Site, contract
from embedded.bodies import event_body, lease_body
from realcluster.client import CRDS, NAMESPACES, Object, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases")
EVENTS = Resource("events.k8s.io", "v1", "events")
OLD_EVENTS = Resource("", "v1", "events")


def event(site: Site, name: str = "e1", **fields: Any) -> Object:
    regarding = {
        "kind": "Run",
        "namespace": site.namespace,
        "name": "r1",
        "apiVersion": "kruntimes.io/v1alpha1",
    }
    times = {"eventTime": "2001-02-03T04:05:06.700000Z"}
    return event_body(name, **{"regarding": regarding, **times, **fields})


def old_event(site: Site, name: str = "e1", **fields: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name},
        "involvedObject": {"kind": "Run", "namespace": site.namespace, "name": "r1"},
        "reason": "Assigned",
        "message": "assigned",
        "type": "Normal",
        "source": {"component": "kruntimes"},
        "firstTimestamp": "2001-02-03T04:05:06Z",
        "lastTimestamp": "2001-02-03T04:05:06Z",
        "count": 1,
        **fields,
    }


@contract
def test_an_event_is_seen_through_both_groups(site: Site) -> None:
    site.made(EVENTS, event(site))
    assert site.get(OLD_EVENTS, "e1").body["involvedObject"]["name"] == "r1"
    site.made(OLD_EVENTS, old_event(site, "e2"))
    assert site.get(EVENTS, "e2").body["regarding"]["name"] == "r1"
    assert site.list(EVENTS).names == site.list(OLD_EVENTS).names == ["e1", "e2"]


@contract
def test_a_series_of_events(site: Site) -> None:
    site.made(EVENTS, event(site))
    series = {"count": 2, "lastObservedTime": "2001-02-03T04:05:07.000000Z"}
    for kind in ("merge", "strategic"):
        changed = site.patch(EVENTS, "e1", {"series": series}, kind=kind)
        assert changed.body["series"] == series
    site.patch(EVENTS, "e1", {"series": {"count": 1}})
    site.patch(EVENTS, "e1", {"note": "other"})
    site.get(OLD_EVENTS, "e1")


@contract
def test_an_event_of_the_scheduler_is_shown_to_those_who_look_at_its_run(site: Site) -> None:
    """As `kubectl describe` asks: core/v1, by fields of the involved object."""
    pod = {"kind": "Pod", "namespace": site.namespace, "name": "py-0", "apiVersion": "v1", "uid": "p"}
    run = {**event(site)["regarding"], "uid": "u"}
    site.made(EVENTS, event(site, "e1", regarding=run, related=pod))
    site.made(EVENTS, event(site, "e2", regarding=pod, related=run, type="Warning"))
    series = {"count": 2, "lastObservedTime": "2001-02-03T04:05:07.000000Z"}
    assert site.patch(EVENTS, "e1", {"series": series}).status == 200
    fields = f"involvedObject.name=r1,involvedObject.namespace={site.namespace},involvedObject.kind=Run"
    assert site.list(OLD_EVENTS, fieldSelector=f"{fields},involvedObject.uid=u").names == ["e1"]
    assert site.list(EVENTS, fieldSelector="regarding.name=py-0,type=Warning").names == ["e2"]
    assert site.get(OLD_EVENTS, "e1").body["series"] == series
    assert site.patch(EVENTS, "gone", {"series": series}).status == 404
    assert site.create(EVENTS, event(site, "e1")).status == 409


@contract
def test_events_that_are_refused(site: Site) -> None:
    for fields in (
        {"reason": ""},
        {"reason": "r" * 129},
        {"action": None},
        {"type": "Odd"},
        {"note": "n" * 1025},
        {"note": "\u00e9" * 513},
        {"note": "\u00e9" * 512},
        {"eventTime": None},
        {"reportingController": None},
        {"reportingController": "a b"},
        {"reportingInstance": None},
        {"regarding": {"kind": "Run", "namespace": "elsewhere", "name": "r1"}},
        {"regarding": {"kind": "Run", "name": "r1"}},
        {"regarding": None},
        {"deprecatedCount": 1},
        {"eventTime": "yesterday"},
    ):
        site.create(EVENTS, event(site, **fields))
        site.delete(EVENTS, "e1")
    elsewhere = {"kind": "Run", "namespace": "elsewhere", "name": "r1"}
    assert site.create(OLD_EVENTS, old_event(site, involvedObject=elsewhere)).status == 422
    assert site.create(OLD_EVENTS, old_event(site, count="one")).status == 400
    assert site.create(OLD_EVENTS, old_event(site, "e3", involvedObject={})).status == 422


@contract
def test_a_put_creates_an_event_or_a_lease(site: Site) -> None:
    assert site.replace(LEASES, lease_body()).status == 201
    assert site.replace(LEASES, lease_body("l2", holderIdentity="a")).status == 201
    site.replace(EVENTS, event(site))
    site.replace(OLD_EVENTS, old_event(site, "e2"))


@contract
def test_a_lease_changes_hands(site: Site) -> None:
    spec: dict[str, Any] = {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2001-02-03T04:05:06.000000Z",
        "renewTime": "2001-02-03T04:05:06.123456Z",
        "leaseTransitions": 0,
    }
    lease = site.made(LEASES, lease_body(**spec))
    assert lease["spec"] == spec
    taken = site.replace(LEASES, {**lease, "spec": {**spec, "holderIdentity": "b", "leaseTransitions": 1}})
    assert taken.status == 200
    refused = site.replace(LEASES, {**lease, "spec": {**spec, "holderIdentity": "c"}})
    assert (refused.status, refused.reason) == (409, "Conflict")
    site.patch(LEASES, "l1", {"spec": {"renewTime": "2001-02-03T04:05:07Z"}})
    site.replace(LEASES, lease_body())


@contract
def test_leases_that_are_refused(site: Site) -> None:
    specs: tuple[Object, ...] = (
        {"leaseDurationSeconds": 0},
        {"leaseTransitions": -1},
        {"leaseDurationSeconds": "15"},
        {"leaseDurationSeconds": 2**31},
        {"renewTime": "now"},
        {"renewTime": 5},
        {"holderIdentity": 5},
        {"strategy": "Odd"},
        {"holderIdentity": ""},
    )
    for spec in specs:
        site.create(LEASES, lease_body(**spec))
        site.delete(LEASES, "l1")


@contract
def test_namespaces(site: Site) -> None:
    path = NAMESPACES.path(None, site.namespace)
    namespace = site.send("GET", path).body
    assert namespace["status"] == {"phase": "Active"}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": site.namespace}
    labels = {"metadata": {"labels": {"a": "b", "kubernetes.io/metadata.name": "x"}}}
    merge = "application/merge-patch+json"
    assert site.send("PATCH", path, labels, content_type=merge).status == 200
    site.send("PATCH", path, {"metadata": {"labels": None}}, content_type=merge)
    site.send("PATCH", path, {"spec": {"finalizers": []}}, content_type=merge)
    site.send("PUT", path, {**namespace, "status": {"phase": "Terminating"}})
    site.send("GET", NAMESPACES.path(None), fieldSelector=f"metadata.name={site.namespace}")
    site.send(
        "GET", NAMESPACES.path(None), fieldSelector=f"status.phase=Active,metadata.name={site.namespace}"
    )
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{site.namespace}-more"}}
    site.send("POST", NAMESPACES.path(None), body)
    site.send("POST", NAMESPACES.path(None), body)


def definition(site: Site, **spec: object) -> Object:
    """A CustomResourceDefinition of a group that is the namespace's own."""
    group = f"{site.namespace}.example.com"
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "things", "kind": "Thing"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version], **spec},
    }


@contract
def test_our_definitions_are_established(site: Site) -> None:
    for plural in ("runs", "runtimes", "persistentworkspaces"):
        found = site.send("GET", CRDS.path(None, f"{plural}.kruntimes.io"))
        assert found.status == 200
        conditions = {one["type"]: one["status"] for one in found.body["status"]["conditions"]}
        assert conditions == {"NamesAccepted": "True", "Established": "True"}


@contract
def test_a_new_definition_is_stored(site: Site) -> None:
    made = site.send("POST", CRDS.path(None), definition(site))
    assert made.status == 201
    assert site.send("POST", CRDS.path(None), definition(site)).status == 409


@contract
def test_definitions_that_are_refused(site: Site) -> None:
    wrong_name = {**definition(site), "metadata": {"name": "other.example.com"}}
    site.send("POST", CRDS.path(None), wrong_name)
    specs: tuple[Object, ...] = ({"versions": []}, {"group": ""}, {"scope": "Somewhere"}, {"names": {}})
    for spec in specs:
        assert site.send("POST", CRDS.path(None), definition(site, **spec)).status == 422
