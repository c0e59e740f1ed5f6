"""The OpenAPI documents that kubectl reads before it applies and explains.

Not a description of the whole API: one patch operation for each kind, which tells kubectl that the
server validates fields itself, and the schemas of custom resources for `kubectl explain`.
"""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.resources import JSON_PATCH, MERGE, Resource

V2_EMPTY = b"\x0a\x032.0"
"""A v2 document without any definition, as protocol buffers: older clients then check nothing."""
V2_TYPE = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

_INFO = {"title": "Kubernetes", "version": "v1.37.2"}


def index(resources: Iterable[Resource]) -> Object:
    """`/openapi/v3`: where the document of each group and version is."""
    paths = dict.fromkeys(resource.path for resource in resources)
    return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}


def document(path: str, resources: Iterable[Resource]) -> Object | None:
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
