"""What a client can find out about the server: groups, resources and the version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.resources import Resource

AGGREGATED = "apidiscovery.k8s.io/v2"
_STATUS_VERBS = ("get", "patch", "update")

VERSION: Mapping[str, str] = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2+kruntimes-dev",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
"""The API that is spoken here is that of Kubernetes 1.37; the suffix says that this is not it."""


def api_versions(address: str) -> Object:
    """`/api`; address: host and port of the server."""
    by_client = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": by_client}


def group_list(resources: Iterable[Resource]) -> Object:
    """`/apis`."""
    names = dict.fromkeys(resource.group for resource in resources if resource.group)
    groups = [_group(name, resources) for name in names]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(name: str, resources: Iterable[Resource]) -> Object | None:
    """`/apis/<group>`; None when there is no such group."""
    if not any(resource.group == name for resource in resources):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, resources)}


def _group(name: str, resources: Iterable[Resource]) -> Object:
    served = dict.fromkeys(resource.version for resource in resources if resource.group == name)
    versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in served]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(group_name: str, version: str, resources: Iterable[Resource]) -> Object | None:
    """`/api/v1` and `/apis/<group>/<version>`; None when there is no such version."""
    found = [one for one in resources if (one.group, one.version) == (group_name, version)]
    if not found:
        return None
    listed = [entry for resource in found for entry in _entries(resource)]
    # The oldest of these documents says no version of itself.
    head = {"kind": "APIResourceList", **({"apiVersion": "v1"} if group_name else {})}
    return {**head, "groupVersion": found[0].api_version, "resources": listed}


def _entries(resource: Resource) -> Iterable[Object]:
    entry: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    yield entry
    if resource.has_status:
        yield {
            "name": f"{resource.plural}/status",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(_STATUS_VERBS),
        }


def aggregated(resources: Iterable[Resource], *, core: bool) -> Object:
    """`/api` (core) or `/apis` in one answer, as newer clients ask for it."""
    chosen = [resource for resource in resources if (resource.group == "") is core]
    groups: dict[str, dict[str, list[Object]]] = {}
    for resource in chosen:
        versions = groups.setdefault(resource.group, {})
        versions.setdefault(resource.version, []).append(_aggregated_entry(resource))
    items = [_aggregated_group(name, versions) for name, versions in groups.items()]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": AGGREGATED, "metadata": {}, "items": items}


def _aggregated_group(name: str, versions: Mapping[str, list[Object]]) -> Object:
    listed = [
        {"version": version, "resources": entries, "freshness": "Current"}
        for version, entries in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": listed}


def _aggregated_entry(resource: Resource) -> Object:
    # Go types leave group and version to the group that lists them.
    group_name, version = ("", "") if resource.typed else (resource.group, resource.version)
    kind = {"group": group_name, "version": version, "kind": resource.kind}
    entry: Object = {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.has_status:
        status = {"subresource": "status", "responseKind": kind, "verbs": list(_STATUS_VERBS)}
        entry["subresources"] = [status]
    return entry
