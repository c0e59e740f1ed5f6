"""The paths that belong to no resource: discovery, OpenAPI, health and version.

The OpenAPI documents do not describe the whole API: one patch operation for each kind, which tells kubectl
that the server validates fields itself, and the schemas of custom resources for `kubectl explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kruntimes_core.lab.apiserver.encoding import encode
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    method_not_allowed,
    no_such_path,
    not_acceptable,
)
from kruntimes_core.lab.apiserver.http.negotiation import (
    AGGREGATED_TYPE,
    JSON,
    best_of,
    negotiated_document,
)
from kruntimes_core.lab.apiserver.http.serving import (
    ReceivedRequest,
    Sent,
    in_encoding_of,
    sent_error,
    sent_object,
    sent_text,
)
from kruntimes_core.lab.apiserver.kinds.strategy import JSON_PATCH, MERGE, Resource, Resources
from kruntimes_core.lab.apiserver.objects import Object

AGGREGATED = "apidiscovery.k8s.io/v2"

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
    yield entry | _other_names(resource)
    for name, verbs in resource.subresources.items():
        yield {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(verbs),
        }


def _other_names(resource: Resource) -> Object:
    found = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {key: names for key, names in found.items() if names}


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
    entry |= _other_names(resource)
    if resource.subresources:
        entry["subresources"] = [
            {"subresource": name, "responseKind": kind, "verbs": list(verbs)}
            for name, verbs in resource.subresources.items()
        ]
    return entry


# OpenAPI

V2_EMPTY = b"\x0a\x032.0"
"""A v2 document without any definition, as protocol buffers: older clients then check nothing."""
V2_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_V2_TYPE_BEFORE = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""What clients ask for too, and cannot read in an answer: `@` has no place in a media type."""

_INFO = {"title": "Kubernetes", "version": "v1.37.2"}


def openapi_index(resources: Iterable[Resource]) -> Object:
    """`/openapi/v3`: where the document of each group and version is."""
    paths = dict.fromkeys(resource.path for resource in resources)
    return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}


def openapi_document(path: str, resources: Iterable[Resource]) -> Object | None:
    """The document of one group and version, such as `apis/kruntimes.io/v1alpha1`; None for no such."""
    found = [resource for resource in resources if resource.path == path]
    if not found:
        return None
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": {_url(resource): {"patch": _patch(resource)} for resource in found},
        "components": {"schemas": {_name(resource): _schema(resource) for resource in found}},
    }


def _url(resource: Resource) -> str:
    place = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"/{resource.path}{place}/{resource.plural}/{{name}}"


def _patch(resource: Resource) -> Object:
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "boolean" if name == "force" else "string"}}
        for name in names
    ]
    schema = {"schema": {"$ref": f"#/components/schemas/{_name(resource)}"}}
    return {
        "parameters": parameters,
        "requestBody": {"content": {JSON_PATCH: schema, MERGE: schema}, "required": True},
        "responses": {"200": {"description": "OK", "content": {"application/json": schema}}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": _kind(resource),
    }


def _kind(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _name(resource: Resource) -> str:
    backwards = ".".join(reversed((resource.group or "core.k8s.io").split(".")))
    return f"{backwards}.{resource.version}.{resource.kind}"


def _schema(resource: Resource) -> Object:
    schema = dict(resource.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    return {**schema, "x-kubernetes-group-version-kind": [_kind(resource)]}


# Paths

_HEALTH = ("healthz", "livez", "readyz")
NOT_FOUND = "404 page not found\n"


def about(resources: Resources, segments: list[str], request: ReceivedRequest, address: str) -> Sent | None:
    """The answer of a path about the server itself; None for the path of a resource."""
    first, rest = (segments or [""])[0], segments[1:]
    if first in _HEALTH:
        return sent_text("ok")
    if first == "openapi":
        return _openapi(resources, rest, request.accept)
    if first not in ("api", "apis") and segments != ["version"]:
        return sent_text(NOT_FOUND, 404)
    if len(rest) > (1 if first == "api" else 2):
        return None
    try:
        return _document(resources, segments, request, address)
    except ApiError as error:
        return in_encoding_of(sent_error(error), request.accept)


def _document(resources: Resources, segments: list[str], request: ReceivedRequest, address: str) -> Sent:
    """Raises `ApiError`: 404, 405, 406."""
    first, *rest = segments
    found = dict(VERSION) if first == "version" else _discovered(resources, first, rest, address)
    if found is None and first == "apis":
        return sent_text(NOT_FOUND, 404)
    if found is None:
        raise no_such_path()
    # A kube-apiserver looks at the method of some of its documents only.
    if request.method != "GET" and first != "apis":
        raise method_not_allowed()
    if first == "version":
        if best_of(request.accept, (JSON,)) is None:
            raise not_acceptable(f"the version is of the media type {JSON}")
        return sent_object(found)
    if negotiated_document(request.accept, aggregated=not rest) == AGGREGATED_TYPE:
        return Sent(200, encode(aggregated(resources, core=first == "api")), AGGREGATED_TYPE)
    return in_encoding_of(sent_object(found), request.accept)


def _discovered(resources: Resources, first: str, rest: list[str], address: str) -> Object | None:
    if first == "api":
        return resource_list("", rest[0], resources) if rest else api_versions(address)
    if not rest:
        return group_list(resources)
    return group(rest[0], resources) if len(rest) == 1 else resource_list(rest[0], rest[1], resources)


def _openapi(resources: Resources, rest: list[str], accept: str) -> Sent:
    if rest == ["v2"]:
        return _openapi_v2(accept)
    if rest == ["v3"]:
        # What a kube-apiserver says that it is, whatever a client asks for.
        return Sent(200, encode(openapi_index(resources)), "text/plain; charset=utf-8")
    if rest[:1] != ["v3"]:
        return sent_text(NOT_FOUND, 404)
    found = openapi_document("/".join(rest[1:]), resources)
    if found is None:
        return sent_text("", 404)
    return sent_object(found) if best_of(accept, (JSON,)) else sent_text("", 406)


def _openapi_v2(accept: str) -> Sent:
    wanted = best_of(accept, (JSON, V2_TYPE, _V2_TYPE_BEFORE))
    if wanted is None:
        return sent_text("", 406)
    if wanted != JSON:
        return Sent(200, V2_EMPTY, V2_TYPE)
    return sent_object({"swagger": "2.0", "info": _INFO, "paths": {}})
