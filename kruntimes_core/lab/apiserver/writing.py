"""Creating, replacing and patching: read, guard, prepare, judge, keep.

The order of the steps is a kube-apiserver's, because it decides which of two problems a client is told.
"""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.lab.apiserver import deletion, meta
from kruntimes_core.lab.apiserver.contents import Contents
from kruntimes_core.lab.apiserver.decoding import read, read_patched, warnings_of
from kruntimes_core.lab.apiserver.field_errors import FieldError
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.patches import applying
from kruntimes_core.lab.apiserver.preconditions import as_new, check_uid, check_version
from kruntimes_core.lab.apiserver.requests import Answer, Patch, WriteOptions
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.status import (
    already_exists,
    invalid,
    method_not_allowed,
    not_found,
)
from kruntimes_core.lab.apiserver.strategy import Decoded
from kruntimes_core.model.times import format_time


class Writer:
    """The writing half of an `ApiServer`."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def create(self, resource: Resource, namespace: str, body: Object, options: WriteOptions) -> Answer:
        """Create an object; see `ApiServer.create`."""
        if "create" not in resource.verbs:
            raise method_not_allowed()
        decoded = read(resource, body, None, options)
        meta.check_place(decoded.object, namespace, None)
        self._contents.check_namespace(resource, namespace, metadata_of(decoded.object).get("name", ""))
        return self._create(resource, namespace, decoded, options)

    def _create(self, resource: Resource, namespace: str, decoded: Decoded, options: WriteOptions) -> Answer:
        contents, strategy = self._contents, resource.strategy
        sent = metadata_of(decoded.object)
        uid, name = contents.identity(dict(sent))
        now = format_time(contents.now())
        metadata = meta.for_creation(sent, namespace if resource.namespaced else "", uid, now, name)
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
        meta.check_place(decoded.object, namespace, name)
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
        applying.check(patch, resource.patch_types)
        old = self._contents.stored(resource, namespace, name).object
        shown = resource.strategy.from_storage(old)
        patched = applying.apply(patch, shown)
        decoded = read_patched(resource, patch, patched, shown, options)
        meta.check_place(decoded.object, namespace, name)
        return self._replace(resource, subresource, old, decoded, options)

    def _replace(
        self, resource: Resource, subresource: str, old: Object, decoded: Decoded, options: WriteOptions
    ) -> Answer:
        strategy = resource.strategy
        check_version(resource, decoded.object, old)
        metadata = meta.for_update(metadata_of(decoded.object), metadata_of(old))
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
        if not subresource and deletion.is_over(obj):
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
            error = invalid(group, kind, metadata_of(obj).get("name", ""), errors)
            error.warnings = warnings
            raise error
