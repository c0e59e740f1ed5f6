"""What a request may say beside the object: options of reads, writes and deletions.

Which request a path and a method mean: the verb, the resource, and the object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    FieldError,
    bad_request,
    details_of,
    forbidden,
    invalid_object,
    method_not_allowed,
    no_such_path,
    not_found,
    not_supported,
    qualified,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Resource, Resources
from kruntimes_core.lab.apiserver.objects import Object

STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """field_validation: what happens to unknown and repeated fields, `Strict`, `Warn` or `Ignore`.

    repeated: the paths of fields that the body said twice.
    """

    field_validation: str = WARN
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch: its media type, and the document, an object or a list of operations."""

    media_type: str
    document: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a write: the object or Status, the HTTP status, and warnings for the client."""

    object: Object
    code: int = 200
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What a list or watch asks for; the names are those of the query."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    allow_bookmarks: bool = False
    send_initial_events: bool = False
    timeout_seconds: int | None = None

    def check_list(self) -> None:
        """That the options fit a list. Raises `ApiError`."""
        match, version = self.resource_version_match, self.resource_version
        if self.continue_token and version not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        errors: list[FieldError] = []
        field = "resourceVersionMatch"
        if match and not version:
            errors.append(forbidden(field, f"{field} is forbidden unless resourceVersion is provided"))
        if match and self.continue_token:
            errors.append(forbidden(field, f"{field} is forbidden when continue is provided"))
        if match not in ("", "Exact", "NotOlderThan"):
            errors.append(not_supported(field, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and version == "0":
            errors.append(forbidden(field, f'{field} "exact" is forbidden for resourceVersion "0"'))
        if self.send_initial_events:
            detail = "sendInitialEvents is forbidden for list"
            errors.append(forbidden("sendInitialEvents", detail))
        _raise(errors)

    def check_watch(self) -> None:
        """That the options fit a watch. Raises `ApiError`."""
        errors: list[FieldError] = []
        field, match = "resourceVersionMatch", self.resource_version_match
        if self.send_initial_events and match != "NotOlderThan":
            detail = f"sendInitialEvents requires setting {field} to NotOlderThan"
            errors.append(forbidden(field, detail))
        if match and not self.send_initial_events:
            detail = f"{field} is forbidden for watch unless sendInitialEvents is provided"
            errors.append(forbidden(field, detail))
        if match not in ("", "NotOlderThan"):
            errors.append(not_supported(field, match, ("NotOlderThan",)))
        if self.continue_token:
            errors.append(forbidden(field, f"{field} is forbidden when continue is provided"))
        _raise(errors)
        if self.resource_version and not _is_number(self.resource_version):
            raise ApiError(500, "", self._bad_version())

    def version_number(self) -> int:
        """The version as a number, 0 when none is given. Raises `ApiError` (400)."""
        if not self.resource_version:
            return 0
        if not _is_number(self.resource_version):
            raise bad_request(f"invalid resource version: {self._bad_version()}")
        return int(self.resource_version)

    def _bad_version(self) -> str:
        text = self.resource_version
        problem = f'strconv.ParseUint: parsing "{text}": invalid syntax'
        return f'resourceVersion: Invalid value: "{text}": {problem}'


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _raise(errors: list[FieldError]) -> None:
    if errors:
        raise invalid_object("meta.k8s.io", "ListOptions", "", errors)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How something is deleted; see the DeleteOptions of the API."""

    grace_period_seconds: int | None = None
    propagation_policy: str | None = None
    uid: str | None = None
    resource_version: str | None = None

    @classmethod
    def from_object(cls, options: Mapping[str, Any]) -> DeleteOptions:
        """From the body of a DELETE. Raises `ApiError` for an unknown policy or a dry run."""
        if options.get("dryRun"):
            raise bad_request("dry run is not supported by the embedded server: send the request without it")
        conditions = options.get("preconditions") or {}
        policy = options.get("propagationPolicy")
        if policy not in (None, "Orphan", "Background", "Foreground"):
            error = not_supported("propagationPolicy", policy, ("Foreground", "Background", "Orphan", "nil"))
            raise invalid_object("meta.k8s.io", "DeleteOptions", "", [error])
        if policy is None and "orphanDependents" in options:
            policy = "Orphan" if options["orphanDependents"] else "Background"
        grace = options.get("gracePeriodSeconds")
        return cls(
            # As short as can be, but not at once.
            1 if grace is not None and grace < 0 else grace,
            policy,
            conditions.get("uid"),
            conditions.get("resourceVersion"),
        )


@dataclass(frozen=True, slots=True)
class AcceptedWrite:
    """One accepted write, for whoever watches over the server: what stood before and after.

    before is None for a creation, after for a deletion; `subresource` is `status` or empty.
    """

    plural: str
    group: str
    subresource: str
    before: Object | None
    after: Object | None
    body: Any = field(default=None, compare=False)


_ON_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_NAMES_OF_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}


@dataclass(frozen=True, slots=True)
class RequestInfo:
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


def request_info(
    resources: Resources, method: str, segments: list[str], *, watch: bool, continued: bool
) -> RequestInfo:
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
    return RequestInfo(verb, resource, namespace, name, subresource, continued)


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
