"""The API server without a network: the verbs, on objects in memory.

It does no I/O and reads no clock: the time, uids and randomness come in. One thread at a time. What it
returns are the objects themselves, shared with the store: copy before you change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from kruntimes_core.crds import crds
from kruntimes_core.lab.apiserver.decoding import read, read_patched, warnings_of
from kruntimes_core.lab.apiserver.deletion import Deleter, is_over
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    FieldError,
    already_exists,
    conflict,
    invalid,
    invalid_object,
    method_not_allowed,
    not_found,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource
from kruntimes_core.lab.apiserver.metadata import check_place, metadata_of_changed, metadata_of_new
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, version_of, with_metadata
from kruntimes_core.lab.apiserver.patches import check_patch, patched
from kruntimes_core.lab.apiserver.requests import Answer, Patch, WriteOptions, is_version
from kruntimes_core.lab.apiserver.storage import HISTORY_LIMIT
from kruntimes_core.model.times import format_time


class ApiServer(Deleter):
    """Everything that a kube-apiserver does with the kinds of this system.

    A write is decoded, guarded, prepared, validated and kept. The order of the steps is a kube-apiserver's,
    because it decides which of two problems a client is told.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        uid: Callable[[], str],
        source: random.Random | None = None,
        definitions_served: Sequence[Object] | None = None,
        history_limit: int = HISTORY_LIMIT,
        controllers: bool = False,
    ) -> None:
        """Empty, but for the namespaces `default` and `kube-system` and the CustomResourceDefinitions.

        now: an aware time; uid: a new one for each object; source: for generated names.
        definitions_served: CustomResourceDefinitions, by default those of this package.
        controllers: whether what kube-controller-manager does follows at once: a Terminating namespace
        is emptied and goes, and so does what waits for the garbage collector.
        """
        super().__init__(
            now=now, uid=uid, source=source, history_limit=history_limit, controllers=controllers
        )
        self._begin(crds() if definitions_served is None else definitions_served)

    def _begin(self, served: Sequence[Object]) -> None:
        for name in ("default", "kube-system"):
            self.create(self.resources.named("namespaces"), None, {"metadata": {"name": name}})
        for definition in served:
            self.create(self.resources.named("customresourcedefinitions"), None, definition)

    # Creating and changing

    def create(
        self,
        resource: Resource,
        namespace: str | None,
        body: Object,
        options: WriteOptions | None = None,
    ) -> Answer:
        """Create an object. Raises `ApiError`: 400, 403, 404 (namespace), 409 (exists), 422."""
        options, namespace = options or WriteOptions(), namespace or ""
        if "create" not in resource.verbs:
            raise method_not_allowed()
        decoded = read(resource, body, None, options)
        check_place(decoded.object, namespace, None)
        self.check_namespace(resource, namespace, metadata_of(decoded.object).get("name", ""))
        return self._create(resource, namespace, decoded, options)

    def _create(self, resource: Resource, namespace: str, decoded: Decoded, options: WriteOptions) -> Answer:
        strategy = resource.strategy
        sent = metadata_of(decoded.object)
        uid, name = self.identity(dict(sent))
        now = format_time(self.now())
        metadata = metadata_of_new(sent, namespace if resource.namespaced else "", uid, now, name)
        obj = strategy.to_storage({**decoded.object, "metadata": metadata})
        obj = strategy.prepare_create(obj)
        warnings = (*warnings_of(decoded, options), *strategy.warnings(obj, None))
        self._judge(resource, obj, strategy.problems_of_new(obj), warnings)
        if self.table(resource).get((namespace if resource.namespaced else "", name)) is not None:
            raise already_exists(resource.group, resource.plural, name)
        stored = self.accept(resource, "", None, obj)
        return Answer(strategy.from_storage(stored.object), 201, warnings)

    def update(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: Object,
        subresource: str = "",
        options: WriteOptions | None = None,
    ) -> Answer:
        """Replace an object, or its status. Raises `ApiError`: 400, 404, 409 (stale), 422."""
        options, namespace = options or WriteOptions(), namespace or ""
        if "update" not in resource.verbs:
            raise method_not_allowed()
        found = self.table(resource).get((namespace, name))
        decoded = read(resource, body, found.object if found else None, options)
        check_place(decoded.object, namespace, name)
        if found is None:
            if not resource.strategy.creates_on_update or subresource:
                raise not_found(resource.group, resource.plural, name)
            self.check_namespace(resource, namespace, name)
            gone = {"metadata": {"namespace": namespace, "name": name, "uid": ""}}
            _check_uid(resource, decoded.object, gone)
            # The version that the body says is not looked at.
            new = with_metadata(decoded.object, resourceVersion=None, uid=None)
            return self._create(resource, namespace, Decoded(new, decoded.unknown), options)
        _check_uid(resource, decoded.object, found.object)
        return self._replace(resource, subresource, found.object, decoded, options)

    def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Patch,
        subresource: str = "",
        options: WriteOptions | None = None,
    ) -> Answer:
        """Patch an object, or its status. Raises `ApiError`: 400, 404, 409 (stale), 415, 422."""
        options, namespace = options or WriteOptions(), namespace or ""
        check_patch(patch, resource.patch_types)
        old = self.stored(resource, namespace, name).object
        shown = resource.strategy.from_storage(old)
        after = patched(patch, shown)
        decoded = read_patched(resource, after, shown, options)
        check_place(decoded.object, namespace, name)
        return self._replace(resource, subresource, old, decoded, options)

    def _replace(
        self, resource: Resource, subresource: str, old: Object, decoded: Decoded, options: WriteOptions
    ) -> Answer:
        strategy = resource.strategy
        _check_version(resource, decoded.object, old)
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
        strategy = resource.strategy
        if not subresource and is_over(obj):
            self.remove(resource, old)
            return strategy.from_storage(obj)
        return strategy.from_storage(self.accept(resource, subresource, old, obj).object)

    def _judge(
        self, resource: Resource, obj: Object, problems: Iterable[FieldError], warnings: tuple[str, ...]
    ) -> None:
        if not self.validating:
            return
        errors = list(problems)
        if errors:
            kind = obj.get("kind", resource.kind)
            # A kind that is seen through two groups is judged in the first; a custom resource says its own.
            group = obj["apiVersion"].rpartition("/")[0] if resource.strategy.table != "events" else ""
            raise invalid_object(group, kind, metadata_of(obj).get("name", ""), errors, warnings)


# Guards


def _check_uid(resource: Resource, obj: Object, old: Object) -> None:
    """That a write is about the object that stands. Raises `ApiError` (409)."""
    wanted, uid = metadata_of(obj).get("uid"), metadata_of(old).get("uid")
    if wanted and wanted != uid:
        why = f"metadata.uid is {wanted}, and that of the object {uid or 'unset'}"
        raise conflict(resource.group, resource.plural, metadata_of(old)["name"], why)


def _check_version(resource: Resource, obj: Object, old: Object) -> None:
    """That a write was made from the standing version. Raises `ApiError`: 409, 422 without a version."""
    said = version_of(obj)
    name = metadata_of(old)["name"]
    if said in ("", "0"):
        if resource.strategy.updates_unconditionally:
            return
        error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid_object(resource.group, resource.plural, name, [error])
    if not is_version(said):
        raise ApiError(500, "", f"metadata.resourceVersion must be a number, not {said!r}")
    if said != version_of(old):
        raise conflict(resource.group, resource.plural, name)
