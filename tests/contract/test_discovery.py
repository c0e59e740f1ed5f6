"""What a client finds out about the server, as far as kubectl and client libraries need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contract import Site, contract

GROUPS = ("kruntimes.io", "coordination.k8s.io", "events.k8s.io", "apiextensions.k8s.io")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RESOURCES = {
    "/api/v1": ("pods", "pods/status", "namespaces", "namespaces/finalize", "namespaces/status", "events"),
    "/apis/kruntimes.io/v1alpha1": (
        "runs",
        "runs/status",
        "runtimes",
        "runtimes/status",
        "persistentworkspaces",
        "persistentworkspaces/status",
    ),
    "/apis/coordination.k8s.io/v1": ("leases",),
    "/apis/events.k8s.io/v1": ("events",),
    "/apis/apiextensions.k8s.io/v1": ("customresourcedefinitions", "customresourcedefinitions/status"),
}
UNUSED = ("storageVersionHash",)
"""What a real server says beside that no client of this system reads."""

Entry = dict[str, Any]


def only(entries: Sequence[Entry], wanted: Sequence[str], key: str = "name") -> list[Entry]:
    """The wanted entries, without what nobody reads: a real server offers more kinds.

    The order of groups decides which kind a short name means; that of kinds is no order on a real server.
    """
    chosen = [entry for entry in entries if entry[key] in wanted]
    assert {entry[key] for entry in chosen} == set(wanted)
    if wanted != GROUPS:
        chosen.sort(key=lambda entry: str(entry[key]))
    return [{name: value for name, value in entry.items() if name not in UNUSED} for entry in chosen]


@contract
def test_the_group_of_our_resources(site: Site) -> None:
    assert site.send("GET", "/apis/kruntimes.io").body["preferredVersion"]["version"] == "v1alpha1"


@contract
def test_the_groups_that_are_served(site: Site) -> None:
    groups = site.send("GET", "/apis").body
    site.keep({**groups, "groups": only(groups["groups"], GROUPS)})
    core = site.send("GET", "/api").body
    assert core["versions"] == ["v1"]
    site.keep({key: value for key, value in core.items() if key != "serverAddressByClientCIDRs"})


@contract
def test_the_resources_of_each_group(site: Site) -> None:
    for path, names in RESOURCES.items():
        found = site.send("GET", path).body
        site.keep({**found, "resources": only(found["resources"], names)})


@contract
def test_everything_in_one_answer(site: Site) -> None:
    for path in ("/api", "/apis"):
        reply = site.send("GET", path, accept=AGGREGATED)
        assert reply.content_type == AGGREGATED
        site.keep({**reply.body, "items": [_discovered(item) for item in reply.body["items"] if _ours(item)]})
        assert site.send("GET", path, accept=f"{AGGREGATED},application/json").content_type == AGGREGATED
        site.keep(None)


def _ours(item: Entry) -> bool:
    return item["metadata"].get("name", "") in ("", *GROUPS)


def _discovered(item: Entry) -> Entry:
    """A group of the aggregated answer, of which only what we use is looked at."""
    name = item["metadata"].get("name")
    versions = []
    for version in item["versions"]:
        path = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
        if path in RESOURCES:
            wanted = [plural for plural in RESOURCES[path] if "/" not in plural]
            listed = [_with_status_only(one) for one in only(version["resources"], wanted, "resource")]
            versions.append({**version, "resources": listed})
    return {
        "metadata": {key: value for key, value in item["metadata"].items() if key == "name"},
        "versions": versions,
    }


def _known(resource: Entry) -> tuple[str, ...]:
    return ("finalize", "status") if resource["resource"] == "namespaces" else ("status",)


def _with_status_only(resource: Entry) -> Entry:
    if "subresources" not in resource:
        return resource
    return {**resource, "subresources": only(resource["subresources"], _known(resource), "subresource")}


@contract
def test_the_version(site: Site) -> None:
    version = site.send("GET", "/version").body
    assert (version["major"], version["minor"]) == ("1", "37")
    site.keep(sorted(version))
