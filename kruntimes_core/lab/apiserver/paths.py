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
    not_found,
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
    # The old form of a watch, of a collection or of one object.
    by_path = rest[:1] == ["watch"] and len(rest) > 1
    if by_path:
        watch, rest = True, rest[1:]
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource = resources.find(group, version, rest[0])
    if resource is None:
        typed = any((one.group, one.version, one.typed) == (group, version, True) for one in resources)
        raise no_such_path() if typed else PlainNotFound
    if namespace and not resource.namespaced:
        raise no_such_path()
    name, subresource = (rest[1:2] or [""])[0], (rest[2:3] or [""])[0]
    if resource.namespaced and name and not namespace:
        raise no_such_path() if resource.typed else PlainNotFound
    if len(rest) > 3 or (subresource and not (subresource == "status" and resource.has_status)):
        raise no_such_path() if resource.typed else not_found(resource.group, resource.plural, name)
    verb = _verb(resource, method, namespace, name, subresource, watch=watch)
    if by_path and verb == "get":
        verb = "watch"
    return Call(verb, resource, namespace, name, subresource, continued)


def _split(segments: list[str]) -> tuple[str, str, list[str]]:
    if segments[0] == "api":
        return "", segments[1], segments[2:]
    return segments[1], segments[2], segments[3:]


def _verb(
    resource: Resource, method: str, namespace: str, name: str, subresource: str, *, watch: bool
) -> str:
    if not name:
        verb = _ON_COLLECTION.get(method)
        if resource.namespaced and not namespace and verb != "list":
            raise method_not_allowed() if resource.typed else PlainNotFound
        if verb is None and not resource.typed and method in ("PUT", "PATCH"):
            raise bad_request("name must be provided")
        if verb == "list" and watch:
            verb = "watch"
    else:
        verb = _ON_OBJECT.get(method)
        if method == "POST" and not resource.typed and not subresource:
            # Odd, but so it is: the body says the name.
            verb = "create"
        if subresource and verb == "delete":
            verb = None
    if verb is None or verb not in resource.verbs:
        raise _not_supported(resource, method)
    return verb


def _not_supported(resource: Resource, method: str) -> ApiError:
    if resource.typed:
        return method_not_allowed()
    what = qualified(resource.group, resource.plural)
    message = f'{_NAMES_OF_VERBS.get(method, "")} is not supported on resources of kind "{what}"'
    details = details_of(resource.group, resource.plural)
    return ApiError(405, "MethodNotAllowed", message, details)
