"""What a request wants: the verb and object of its path, and the options of reads, writes and deletions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
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
_MATCH = "resourceVersionMatch"


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
            raise bad_request("resourceVersion and continue cannot be used together")
        self._check(
            ("Exact", "NotOlderThan", ""),
            (bool(match) and not version, _MATCH, "needs resourceVersion"),
            (bool(match) and bool(self.continue_token), _MATCH, "cannot be used with continue"),
            (match == "Exact" and version == "0", _MATCH, '"Exact" cannot be used with resourceVersion "0"'),
            (self.send_initial_events, "sendInitialEvents", "is for watches only"),
        )

    def check_watch(self) -> None:
        """That the options fit a watch. Raises `ApiError`."""
        match, initial = self.resource_version_match, self.send_initial_events
        self._check(
            ("", "NotOlderThan"),
            (initial and match != "NotOlderThan", _MATCH, "must be NotOlderThan with sendInitialEvents"),
            (bool(match) and not initial, _MATCH, "needs sendInitialEvents in a watch"),
            (bool(self.continue_token), _MATCH, "cannot be used with continue"),
        )
        if self.resource_version and not is_version(self.resource_version):
            raise ApiError(500, "", f"resourceVersion must be a number, not {self.resource_version!r}")

    def _check(self, matches: Sequence[str], *forbidding: tuple[bool, str, str]) -> None:
        """matches: what resourceVersionMatch may be; forbidding: (whether it applies, the field, why)."""
        errors = [forbidden(field, f"{field} {why}") for applies, field, why in forbidding if applies]
        if self.resource_version_match not in matches:
            errors.append(not_supported(_MATCH, self.resource_version_match, matches))
        if errors:
            raise invalid_object("meta.k8s.io", "ListOptions", "", errors)

    def version_number(self) -> int:
        """The version as a number, 0 when none is given. Raises `ApiError` (400)."""
        if self.resource_version and not is_version(self.resource_version):
            raise bad_request(f"resourceVersion must be a number, not {self.resource_version!r}")
        return int(self.resource_version or 0)


def is_version(text: str) -> bool:
    """Whether a text is a resourceVersion of this server: a number."""
    return text.isascii() and text.isdigit()


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
            raise no_dry_run()
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


def no_dry_run() -> ApiError:
    """400: a dry run is refused, so that it is not taken for one that was validated."""
    return bad_request("dry run is not supported by the embedded server: send the request without it")


@dataclass(frozen=True, slots=True)
class AcceptedWrite:
    """One accepted write, for the observers of a server: what stood before and after.

    before is None for a creation, after for a deletion; `subresource` is `status` or empty.
    """

    plural: str
    group: str
    subresource: str
    before: Object | None
    after: Object | None


_ON_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}


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
    """What a path below a group and version means: `segments` begin with `api` or `apis`.

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
    if len(rest) > 3 or (subresource and subresource not in resource.subresources):
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
    if method == "HEAD" and not resource.typed:
        # The answer to a GET without its body; of a watch there would be nothing to tell.
        method, watch = "GET", False
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
        if subresource and verb not in resource.subresources[subresource]:
            verb = None
    if verb is None or verb not in resource.verbs:
        raise _not_supported(resource, method)
    return verb


def _not_supported(resource: Resource, method: str) -> ApiError:
    if resource.typed:
        return method_not_allowed()
    what = qualified(resource.group, resource.plural)
    details = details_of(resource.group, resource.plural)
    return ApiError(405, "MethodNotAllowed", f"{method} is not supported on this path of {what}", details)
