"""Which request a path and a method mean: the verb, the resource, and the object."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.lab.apiserver.resources import Resource, Resources
from kruntimes_core.lab.apiserver.status import (
    ApiError,
    bad_request,
    details_of,
    method_not_allowed,
    no_such_path,
    qualified,
)

_ON_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_NAMES_OF_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a resource. namespace and name are empty where the path has none."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    continued: bool = False
    """Whether it asks for a later page of a list."""

    @property
    def place(self) -> str | None:
        """The namespace, None for all or for what has none."""
        return self.namespace or None


class PlainNotFound(Exception):  # noqa: N818 - an answer, not a fault of ours
    """404 as a text: the path belongs to no group that is served."""


def find_call(
    resources: Resources, method: str, segments: list[str], *, watch: bool, continued: bool
) -> Call:
    """The call of a path below a group and version: `segments` begin with `api` or `apis`.

    Raises `PlainNotFound`, or `ApiError`: 404, 405, 400.
    """
    group, version, rest = _split(segments)
    if rest[:1] == ["watch"]:
        watch, rest = True, rest[1:]
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource = resources.find(group, version, rest[0])
    if resource is None or len(rest) > 3:
        raise PlainNotFound if group != "" else no_such_path()
    if namespace and not resource.namespaced:
        raise no_such_path()
    name, subresource = (rest[1:2] or [""])[0], (rest[2:3] or [""])[0]
    if subresource and not (subresource == "status" and resource.has_status):
        raise no_such_path()
    if resource.namespaced and name and not namespace:
        raise no_such_path()
    verb = _verb(resource, method, name, subresource, watch=watch)
    return Call(verb, resource, namespace, name, subresource, continued)


def _split(segments: list[str]) -> tuple[str, str, list[str]]:
    if segments[0] == "api":
        return "", segments[1], segments[2:]
    return segments[1], segments[2], segments[3:]


def _verb(resource: Resource, method: str, name: str, subresource: str, *, watch: bool) -> str:
    if not name:
        verb = _ON_COLLECTION.get(method)
        if verb is None and not resource.typed and method in ("PUT", "PATCH"):
            raise bad_request("name must be provided")
        if verb == "list" and watch:
            verb = "watch"
    else:
        verb = _ON_OBJECT.get(method)
        if subresource and verb == "delete":
            verb = None
    if verb is None or verb not in resource.verbs:
        raise _not_supported(resource, method)
    return verb


def _not_supported(resource: Resource, method: str) -> ApiError:
    if resource.typed or method not in _NAMES_OF_VERBS:
        return method_not_allowed()
    what = qualified(resource.group, resource.plural)
    message = f'{_NAMES_OF_VERBS[method]} is not supported on resources of kind "{what}"'
    details = details_of(resource.group, resource.plural)
    return ApiError(405, "MethodNotAllowed", message, details)
