"""Creating, replacing and patching: read, guard, prepare, judge, keep.

The order of the steps is a kube-apiserver's, because it decides which of two problems a client is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kruntimes_core.lab.apiserver import deletion, meta
from kruntimes_core.lab.apiserver.field_errors import FieldError
from kruntimes_core.lab.apiserver.field_errors import invalid as invalid_field
from kruntimes_core.lab.apiserver.go_text import marshal, printed, quote
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, version_of, with_metadata
from kruntimes_core.lab.apiserver.patches import applying
from kruntimes_core.lab.apiserver.recognition import recognised
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, Answer, Patch, WriteOptions
from kruntimes_core.lab.apiserver.resources import STRATEGIC, Resource
from kruntimes_core.lab.apiserver.status import (
    ApiError,
    already_exists,
    bad_request,
    conflict,
    internal,
    invalid,
    method_not_allowed,
    not_found,
)
from kruntimes_core.lab.apiserver.strategy import Decoded
from kruntimes_core.model.times import format_time

if TYPE_CHECKING:
    from kruntimes_core.lab.apiserver.server import ApiServer


class Writer:
    """The writing half of an `ApiServer`."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def create(self, resource: Resource, namespace: str, body: Object, options: WriteOptions) -> Answer:
        """Create an object; see `ApiServer.create`."""
        if "create" not in resource.verbs:
            raise method_not_allowed()
        decoded = _read(resource, body, None, options)
        meta.check_place(decoded.object, namespace, None)
        self._server.check_namespace(resource, namespace, metadata_of(decoded.object).get("name", ""))
        return self._create(resource, namespace, decoded, options)

    def _create(self, resource: Resource, namespace: str, decoded: Decoded, options: WriteOptions) -> Answer:
        server, strategy = self._server, resource.strategy
        sent = metadata_of(decoded.object)
        uid, name = server.identity(dict(sent))
        now = format_time(server.now())
        metadata = meta.for_creation(sent, namespace if resource.namespaced else "", uid, now, name)
        obj = strategy.to_storage({**decoded.object, "metadata": metadata})
        obj = strategy.prepare_create(obj)
        warnings = (*_warnings(decoded, options), *strategy.warnings(obj, None))
        self._judge(resource, obj, strategy.problems_of_new(obj), warnings)
        if server.table(resource).get((namespace if resource.namespaced else "", name)) is not None:
            raise already_exists(resource.group, resource.plural, name)
        stored = server.accept(resource, "", None, obj)
        return Answer(strategy.from_storage(stored.object), 201, warnings)

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Object,
        subresource: str,
        options: WriteOptions,
    ) -> Answer:
        """Replace an object or its status; see `ApiServer.update`."""
        if "update" not in resource.verbs:
            raise method_not_allowed()
        found = self._server.table(resource).get((namespace, name))
        decoded = _read(resource, body, found.object if found else None, options)
        meta.check_place(decoded.object, namespace, name)
        if found is None:
            if not resource.strategy.creates_on_update or subresource:
                raise not_found(resource.group, resource.plural, name)
            self._server.check_namespace(resource, namespace, name)
            gone = {"metadata": {"namespace": namespace, "name": name, "uid": ""}}
            _check_uid(resource, decoded.object, gone)
            return self._create(resource, namespace, _as_new(decoded), options)
        _check_uid(resource, decoded.object, found.object)
        return self._replace(resource, subresource, found.object, decoded, options)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Patch,
        subresource: str,
        options: WriteOptions,
    ) -> Answer:
        """Patch an object or its status; see `ApiServer.patch`."""
        applying.check(patch, resource.patch_types)
        old = self._server.stored(resource, namespace, name).object
        shown = resource.strategy.from_storage(old)
        patched = applying.apply(patch, shown)
        decoded = _read_patched(resource, patch, patched, shown, options)
        meta.check_place(decoded.object, namespace, name)
        return self._replace(resource, subresource, old, decoded, options)

    def _replace(
        self, resource: Resource, subresource: str, old: Object, decoded: Decoded, options: WriteOptions
    ) -> Answer:
        strategy = resource.strategy
        _check_version(resource, decoded.object, old)
        metadata = meta.for_update(metadata_of(decoded.object), metadata_of(old))
        new = strategy.to_storage({**decoded.object, "metadata": metadata})
        if subresource:
            obj = strategy.prepare_status(new, old)
            problems = strategy.problems_of_status(obj, old)
        else:
            obj = strategy.prepare_update(new, old)
            problems = strategy.problems_of_update(obj, old)
        warnings = (*_warnings(decoded, options), *strategy.warnings(obj, old))
        if obj == old:
            return Answer(strategy.from_storage(old), 200, warnings)
        self._judge(resource, obj, problems, warnings)
        return Answer(self._keep(resource, subresource, old, obj), 200, warnings)

    def _keep(self, resource: Resource, subresource: str, old: Object, obj: Object) -> Object:
        server, strategy = self._server, resource.strategy
        if not subresource and deletion.is_over(obj):
            server.remove(resource, old)
            return strategy.from_storage(obj)
        return strategy.from_storage(server.accept(resource, subresource, old, obj).object)

    def _judge(
        self, resource: Resource, obj: Object, problems: Iterable[FieldError], warnings: tuple[str, ...]
    ) -> None:
        if not self._server.validating:
            return
        errors = list(problems)
        if errors:
            kind = obj.get("kind", resource.kind)
            # A kind that is seen through two groups is judged in the first; a custom resource says its own.
            group = obj["apiVersion"].rpartition("/")[0] if resource.strategy.table != "events" else ""
            error = invalid(group, kind, metadata_of(obj).get("name", ""), errors)
            error.warnings = warnings
            raise error


def _read(resource: Resource, body: Any, old: Object | None, options: WriteOptions) -> Decoded:
    """The object of a request. Raises `ApiError` (400) when it cannot be one of this resource."""
    body = recognised(resource, body, marshal(body).encode())
    kind = body["kind"] if resource.typed else resource.kind
    what = f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    try:
        shown = resource.strategy.from_storage(old) if old is not None else None
        decoded = resource.strategy.decode(body, shown)
    except meta.Misshapen as problem:
        raise bad_request(f"{what}: {problem}") from problem
    if options.field_validation == STRICT and _complaints(decoded, options):
        raise bad_request(f"{what}: {_strictly(decoded, options)}")
    return decoded


def _read_patched(
    resource: Resource, patch: Patch, patched: Object, shown: Object, options: WriteOptions
) -> Decoded:
    _check_patched_type(resource, patched)
    try:
        decoded = resource.strategy.decode(patched, shown)
    except meta.Misshapen as problem:
        raise _bad_patch(_quoted(patch, patched), str(problem)) from problem
    if decoded.unknown and options.field_validation == STRICT:
        raise _bad_patch(_quoted(patch, patched), _strictly(decoded, options))
    return decoded


def _quoted(patch: Patch, patched: Object) -> str:
    return printed(patch.document) if patch.media_type == STRATEGIC else marshal(patched)


def _check_patched_type(resource: Resource, patched: Object) -> None:
    """That a patch left the object one of its kind. Raises `ApiError`: 422, or 500 where no kind is left."""
    if not resource.typed:
        for field, words in (("kind", "Kind"), ("apiVersion", "apiVersion")):
            if not patched.get(field):
                raise internal(f"Object '{words}' is missing in 'object has no {field} field'")
    elif (patched.get("kind"), patched.get("apiVersion")) != (resource.kind, resource.api_version):
        kind, version = patched.get("kind", ""), patched.get("apiVersion", "")
        problem = f"no kind {quote(kind)} is registered for version {quote(version)}"
        raise _bad_patch(marshal(patched), problem)


def _bad_patch(quoted: str, problem: str) -> ApiError:
    return invalid("", "", "", [invalid_field("patch", quoted, problem)])


def _strictly(decoded: Decoded, options: WriteOptions) -> str:
    return "strict decoding error: " + ", ".join(_complaints(decoded, options))


def _complaints(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    return (
        *(f'duplicate field "{path}"' for path in options.repeated),
        *(f'unknown field "{path}"' for path in decoded.unknown),
    )


def _warnings(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    return () if options.field_validation == IGNORE else _complaints(decoded, options)


def _as_new(decoded: Decoded) -> Decoded:
    """An object that a PUT creates: the version that it says is not looked at."""
    return Decoded(with_metadata(decoded.object, resourceVersion=None, uid=None), decoded.unknown)


def _check_uid(resource: Resource, obj: Object, old: Object) -> None:
    wanted, uid = metadata_of(obj).get("uid"), metadata_of(old).get("uid")
    if wanted and wanted != uid:
        metadata = metadata_of(old)
        place = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        group = "" if resource.typed else resource.group
        key = "/".join(filter(None, ("/registry", group, resource.plural, place)))
        why = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}"
        )
        raise conflict(resource.group, resource.plural, metadata["name"], why)


def _check_version(resource: Resource, obj: Object, old: Object) -> None:
    """That a write was made from the standing version. Raises `ApiError`: 409, 422 without a version."""
    said = version_of(obj)
    name = metadata_of(old)["name"]
    if said in ("", "0"):
        if resource.strategy.updates_unconditionally:
            return
        error = invalid_field("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(resource.group, resource.plural, name, [error])
    if not (said.isascii() and said.isdigit()):
        raise ApiError(500, "", f"strconv.ParseUint: parsing {quote(said)}: invalid syntax")
    if said != version_of(old):
        raise conflict(resource.group, resource.plural, name)
