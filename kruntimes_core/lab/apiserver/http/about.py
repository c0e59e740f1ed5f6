"""The paths that belong to no resource: discovery, OpenAPI, health and version."""

from __future__ import annotations

from kruntimes_core.lab.apiserver import discovery, openapi
from kruntimes_core.lab.apiserver.encoding import encode
from kruntimes_core.lab.apiserver.http.answers import Sent, sent_error, sent_object, sent_text
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.queries import wants_aggregated
from kruntimes_core.lab.apiserver.resources import Resources
from kruntimes_core.lab.apiserver.status import no_such_path

_HEALTH = ("healthz", "livez", "readyz")
_AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
NOT_FOUND = "404 page not found\n"


def about(resources: Resources, segments: list[str], accept: str, address: str) -> Sent | None:
    """The answer of a path about the server itself; None for the path of a resource."""
    first, rest = (segments or [""])[0], segments[1:]
    if first in _HEALTH:
        return sent_text("ok")
    if first == "version" and not rest:
        return sent_object(dict(discovery.VERSION))
    if first == "openapi":
        return _openapi(resources, rest, accept)
    if first not in ("api", "apis"):
        return sent_text(NOT_FOUND, 404)
    if len(rest) > (1 if first == "api" else 2):
        return None
    return _discovery(resources, first, rest, accept, address)


def _discovery(resources: Resources, first: str, rest: list[str], accept: str, address: str) -> Sent:
    if not rest and wants_aggregated(accept):
        return Sent(200, encode(discovery.aggregated(resources, core=first == "api")), _AGGREGATED_TYPE)
    found: Object | None
    if first == "api":
        found = discovery.resource_list("", rest[0], resources) if rest else discovery.api_versions(address)
    elif not rest:
        found = discovery.group_list(resources)
    elif len(rest) == 1:
        found = discovery.group(rest[0], resources)
    else:
        found = discovery.resource_list(rest[0], rest[1], resources)
    if found is not None:
        return sent_object(found)
    return sent_error(no_such_path()) if first == "api" else sent_text(NOT_FOUND, 404)


def _openapi(resources: Resources, rest: list[str], accept: str) -> Sent:
    if rest == ["v2"]:
        if "protobuf" in accept:
            return Sent(200, openapi.V2_EMPTY, openapi.V2_TYPE)
        return sent_object(
            {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.37.2"}, "paths": {}}
        )
    if rest == ["v3"]:
        return sent_object(openapi.index(resources))
    found = openapi.document("/".join(rest[1:]), resources) if rest[:1] == ["v3"] else None
    return sent_object(found) if found is not None else sent_text(NOT_FOUND, 404)
