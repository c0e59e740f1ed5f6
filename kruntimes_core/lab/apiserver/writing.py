"""That a write was made from the object that stands: its uid and its version guard it.

Creating, replacing and patching: read, guard, prepare, judge, keep.

The order of the steps is a kube-apiserver's, because it decides which of two problems a client is told.
"""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.lab.apiserver.decoding import read, read_patched, warnings_of
from kruntimes_core.lab.apiserver.deletion import is_over
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    FieldError,
    already_exists,
    conflict,
    invalid_object,
    method_not_allowed,
    not_found,
    quote,
)
from kruntimes_core.lab.apiserver.errors import invalid as invalid_field
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource
from kruntimes_core.lab.apiserver.metadata import check_place, metadata_of_changed, metadata_of_new
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, version_of, with_metadata
from kruntimes_core.lab.apiserver.patches import apply_patch, check_patch
from kruntimes_core.lab.apiserver.registry import Registry
from kruntimes_core.lab.apiserver.requests import Answer, Patch, WriteOptions
from kruntimes_core.model.times import format_time


def as_new(decoded: Decoded) -> Decoded:
    """An object that a PUT creates: the version that it says is not looked at."""
    return Decoded(with_metadata(decoded.object, resourceVersion=None, uid=None), decoded.unknown)


def check_uid(resource: Resource, obj: Object, old: Object) -> None:
    """That a write is about the object that stands. Raises `ApiError` (409)."""
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


def check_version(resource: Resource, obj: Object, old: Object) -> None:
    """That a write was made from the standing version. Raises `ApiError`: 409, 422 without a version."""
    said = version_of(obj)
    name = metadata_of(old)["name"]
    if said in ("", "0"):
        if resource.strategy.updates_unconditionally:
            return
        error = invalid_field("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid_object(resource.group, resource.plural, name, [error])
    if not (said.isascii() and said.isdigit()):
        raise ApiError(500, "", f"strconv.ParseUint: parsing {quote(said)}: invalid syntax")
    if said != version_of(old):
        raise conflict(resource.group, resource.plural, name)


class Writer:
    """The writing half of an `ApiServer`."""

    def __init__(self, contents: Registry) -> None:
        self._contents = contents

    def create(self, resource: Resource, namespace: str, body: Object, options: WriteOptions) -> Answer:
        """Create an object; see `ApiServer.create`."""
        if "create" not in resource.verbs:
            raise method_not_allowed()
        decoded = read(resource, body, None, options)
        check_place(decoded.object, namespace, None)
        self._contents.check_namespace(resource, namespace, metadata_of(decoded.object).get("name", ""))
        return self._create(resource, namespace, decoded, options)

    def _create(self, resource: Resource, namespace: str, decoded: Decoded, options: WriteOptions) -> Answer:
        contents, strategy = self._contents, resource.strategy
        sent = metadata_of(decoded.object)
        uid, name = contents.identity(dict(sent))
        now = format_time(contents.now())
        metadata = metadata_of_new(sent, namespace if resource.namespaced else "", uid, now, name)
        obj = strategy.to_storage({**decoded.object, "metadata": metadata})
        obj = strategy.prepare_create(obj)
        warnings = (*warnings_of(decoded, options), *strategy.warnings(obj, None))
        self._judge(resource, obj, strategy.problems_of_new(obj), warnings)
        if contents.table(resource).get((namespace if resource.namespaced else "", name)) is not None:
            raise already_exists(resource.group, resource.plural, name)
        stored = contents.accept(resource, "", None, obj)
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
        found = self._contents.table(resource).get((namespace, name))
        decoded = read(resource, body, found.object if found else None, options)
        check_place(decoded.object, namespace, name)
        if found is None:
            if not resource.strategy.creates_on_update or subresource:
                raise not_found(resource.group, resource.plural, name)
            self._contents.check_namespace(resource, namespace, name)
            gone = {"metadata": {"namespace": namespace, "name": name, "uid": ""}}
            check_uid(resource, decoded.object, gone)
            return self._create(resource, namespace, as_new(decoded), options)
        check_uid(resource, decoded.object, found.object)
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
        check_patch(patch, resource.patch_types)
        old = self._contents.stored(resource, namespace, name).object
        shown = resource.strategy.from_storage(old)
        patched = apply_patch(patch, shown)
        decoded = read_patched(resource, patch, patched, shown, options)
        check_place(decoded.object, namespace, name)
        return self._replace(resource, subresource, old, decoded, options)

    def _replace(
        self, resource: Resource, subresource: str, old: Object, decoded: Decoded, options: WriteOptions
    ) -> Answer:
        strategy = resource.strategy
        check_version(resource, decoded.object, old)
        metadata = metadata_of_changed(metadata_of(decoded.object), metadata_of(old))
        new = strategy.to_storage({**decoded.object, "metadata": metadata})
        if subresource:
            obj = strategy.prepare_status(new, old)
            problems = strategy.problems_of_status(obj, old)
        else:
            obj = strategy.prepare_update(new, old)
            problems = strategy.problems_of_update(obj, old)
        warnings = (*warnings_of(decoded, options), *strategy.warnings(obj, old))
        if obj == old:
            return Answer(strategy.from_storage(old), 200, warnings)
        self._judge(resource, obj, problems, warnings)
        return Answer(self._keep(resource, subresource, old, obj), 200, warnings)

    def _keep(self, resource: Resource, subresource: str, old: Object, obj: Object) -> Object:
        contents, strategy = self._contents, resource.strategy
        if not subresource and is_over(obj):
            contents.remove(resource, old)
            return strategy.from_storage(obj)
        return strategy.from_storage(contents.accept(resource, subresource, old, obj).object)

    def _judge(
        self, resource: Resource, obj: Object, problems: Iterable[FieldError], warnings: tuple[str, ...]
    ) -> None:
        if not self._contents.validating:
            return
        errors = list(problems)
        if errors:
            kind = obj.get("kind", resource.kind)
            # A kind that is seen through two groups is judged in the first; a custom resource says its own.
            group = obj["apiVersion"].rpartition("/")[0] if resource.strategy.table != "events" else ""
            error = invalid_object(group, kind, metadata_of(obj).get("name", ""), errors)
            error.warnings = warnings
            raise error
