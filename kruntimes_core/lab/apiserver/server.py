"""The API server without a network: the verbs of the API, on objects in memory.

It does no I/O and reads no clock: the caller passes the time, UIDs and randomness. One thread at a time may
call it. It returns the objects of the store themselves, so copy an object before you change it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from kruntimes_core.crds import crds
from kruntimes_core.lab.apiserver.decoding import read, read_patched, warnings_of
from kruntimes_core.lab.apiserver.deletion import check_preconditions, is_over, with_finalizer, with_mark
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    FieldError,
    already_exists,
    conflict,
    details_of,
    forbidden_request,
    invalid,
    invalid_object,
    method_not_allowed,
    not_found,
    success,
)
from kruntimes_core.lab.apiserver.kinds.builtin import (
    IMMORTAL,
    builtin_resources,
    check_takes,
    is_terminating,
)
from kruntimes_core.lab.apiserver.kinds.custom_resources import DEFINITIONS_TABLE, resources_of
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource, Resources
from kruntimes_core.lab.apiserver.metadata import check_place, generated, metadata_of_changed, metadata_of_new
from kruntimes_core.lab.apiserver.namespace_controller import waiting
from kruntimes_core.lab.apiserver.objects import (
    Object,
    key_of,
    metadata_of,
    spec_of,
    status_of,
    version_of,
    with_metadata,
)
from kruntimes_core.lab.apiserver.patches import check_patch, patched
from kruntimes_core.lab.apiserver.requests import (
    AcceptedWrite,
    Answer,
    DeleteOptions,
    ListOptions,
    Patch,
    WriteOptions,
    is_version,
)
from kruntimes_core.lab.apiserver.storage import HISTORY_LIMIT, Store, Stored, Table
from kruntimes_core.lab.apiserver.watch_cache import Page, Selection, Watch, list_page
from kruntimes_core.model.times import format_time

Observer = Callable[[AcceptedWrite], None]


class ApiServer:
    """Does what a kube-apiserver does with the kinds of this system.

    It decodes a write, checks UID and version, prepares the object, validates it, and stores it. The order of
    these steps is that of a kube-apiserver, because it decides which of two problems is reported.
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
        """Contains only the namespaces `default` and `kube-system` and the CustomResourceDefinitions.

        now: returns the time, with a time zone. uid: returns a new UID. source: for generated names.
        definitions_served: CustomResourceDefinitions, by default those of this package.
        controllers: whether to do at once what kube-controller-manager does: delete the objects of a
        Terminating namespace, then the namespace itself unless finalizers keep some of them, and collect
        garbage.
        """
        self.now = now
        self._uid = uid
        self._controllers = controllers
        self._source = source if source is not None else random.Random(0)  # noqa: S311 - names, no secrets
        self.store = Store(history_limit)
        self.resources = Resources(builtin_resources())
        self.observers: list[Observer] = []
        """Called with each accepted write, before the client gets the answer."""
        self.validating = True
        """Whether objects are validated. A test sets False to store objects that no API server would accept.
        """
        self._begin(crds() if definitions_served is None else definitions_served)

    def _begin(self, served: Sequence[Object]) -> None:
        for name in ("default", "kube-system"):
            self.create(self.resources.named("namespaces"), None, {"metadata": {"name": name}})
        for definition in served:
            self.create(self.resources.named("customresourcedefinitions"), None, definition)

    # What is there

    def table(self, resource: Resource) -> Table:
        """The table with the objects of a resource."""
        return self.store.table(resource.strategy.table)

    def stored(self, resource: Resource, namespace: str | None, name: str) -> Stored:
        """One object as it is stored. Raises `ApiError` (404)."""
        found = self.table(resource).get((namespace or "", name))
        if found is None:
            raise not_found(resource.group, resource.plural, name)
        return found

    def page(self, resource: Resource, namespace: str | None, options: ListOptions) -> Page:
        """A list, or one page of it, as stored. namespace: None for all. Raises `ApiError`."""
        selection = Selection(resource, namespace, options)
        return list_page(self.table(resource), self.store.version, selection, options)

    def get(self, resource: Resource, namespace: str | None, name: str) -> Object:
        """One object. Raises `ApiError` (404)."""
        return resource.strategy.from_storage(self.stored(resource, namespace, name).object)

    def list(self, resource: Resource, namespace: str | None = None) -> Sequence[Object]:
        """All objects, whole and current."""
        items = self.page(resource, namespace, ListOptions()).items
        return [resource.strategy.from_storage(stored.object) for stored in items]

    def watch(
        self, resource: Resource, namespace: str | None, options: ListOptions, wake: Callable[[], None]
    ) -> Watch:
        """A watch; wake: see `Watch`. Raises `ApiError`: 400 and 422 for options, 410 for an old version."""
        options.check_watch()
        selection = Selection(resource, namespace, options)
        version = options.version_number()
        from_now = version == 0 or options.send_initial_events
        since = None if from_now else version
        return Watch(self.table(resource), selection, since, lambda: self.store.version, wake)

    # What changes

    def accept(self, resource: Resource, subresource: str, before: Object | None, after: Object) -> Stored:
        """Store a valid object, and call the observers."""
        stored = self.table(resource).put(after)
        if resource.strategy.table == DEFINITIONS_TABLE:
            for described in resources_of(stored.object):
                self.resources.add(described)
        self._tell(AcceptedWrite(resource.plural, resource.group, subresource, before, stored.object))
        return stored

    def remove(self, resource: Resource, obj: Object) -> Stored:
        """Remove an object from the store, and call the observers."""
        gone = self.table(resource).remove(key_of(obj))
        self._tell(AcceptedWrite(resource.plural, resource.group, "", obj, None))
        return gone

    def identity(self, metadata: Object) -> tuple[str, str]:
        """(uid, name) for a new object; the name is generated if only `generateName` is given."""
        name = metadata.get("name") or ""
        if not name and metadata.get("generateName"):
            name = generated(metadata["generateName"], self._source)
        return self._uid(), name

    def check_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        """Check that objects can be created in a namespace. Raises `ApiError`: 404; 403 if Terminating."""
        if not resource.namespaced:
            return
        found = self.store.table("namespaces").get(("", namespace))
        if found is None:
            raise not_found("", "namespaces", namespace)
        check_takes(found.object, resource, name)

    def _tell(self, write: AcceptedWrite) -> None:
        for observer in self.observers:
            observer(write)

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
        sent = metadata_of(decoded.object)
        self.check_namespace(resource, namespace, sent.get("name") or sent.get("generateName", ""))
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
            # The version in the body is ignored.
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
        if subresource == "finalize":
            obj = strategy.prepare_finalize(new, old)
            problems = strategy.problems_of_update(obj, old)
        elif subresource:
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
        if subresource != "status" and is_over(resource, obj):
            self.remove(resource, old)
            kept = obj
        else:
            kept = self.accept(resource, subresource, old, obj).object
        if "deletionTimestamp" in metadata_of(obj):
            self._finish_namespace(metadata_of(obj).get("namespace"))
        return resource.strategy.from_storage(kept)

    def _judge(
        self, resource: Resource, obj: Object, problems: Iterable[FieldError], warnings: tuple[str, ...]
    ) -> None:
        if not self.validating:
            return
        errors = list(problems)
        if errors:
            kind = obj.get("kind", resource.kind)
            # A kind in two groups is validated in the first one; a custom resource names its own group.
            group = obj["apiVersion"].rpartition("/")[0] if resource.strategy.table != "events" else ""
            raise invalid_object(group, kind, metadata_of(obj).get("name", ""), errors, warnings)

    # Deleting

    def delete(
        self, resource: Resource, namespace: str | None, name: str, options: DeleteOptions | None = None
    ) -> Answer:
        """Delete an object, at once or when its grace and finalizers are over.

        Answers with the object while it stands (for Pods and Namespaces always), else with a Status.
        Raises `ApiError`: 403, 404, 409 (preconditions), 405.
        """
        options = options or DeleteOptions()
        if "delete" not in resource.verbs:
            raise method_not_allowed()
        obj = self.stored(resource, namespace, name).object
        if resource.plural == "namespaces":
            return Answer(self._delete_namespace(resource, obj, options))
        check_preconditions(resource, obj, options)
        after = self._marked(resource, obj, options)
        if not is_over(resource, after):
            self._finish_namespace(namespace)
            return Answer(resource.strategy.from_storage(after))
        gone = self.remove(resource, after)
        self._finish_namespace(namespace)
        if resource.strategy.returns_deleted:
            return Answer(resource.strategy.from_storage(gone.object))
        uid = metadata_of(gone.object).get("uid")
        return Answer(success(details_of(resource.group, resource.plural, name, uid=uid)))

    def delete_collection(
        self,
        resource: Resource,
        namespace: str | None,
        selected: ListOptions,
        options: DeleteOptions | None = None,
    ) -> Page:
        """Delete every object of a selection; returns them as they were. Raises `ApiError`."""
        if "deletecollection" not in resource.verbs:
            raise method_not_allowed()
        found = self.page(resource, namespace, selected)
        for stored in found.items:
            self.delete(resource, *key_of(stored.object), options)
        return found

    def _marked(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        """The object marked for deletion; it is stored that way unless it is removed in the same step."""
        after = with_mark(resource, obj, options, self.now())
        if self._controllers:
            after = with_finalizer(after, None)
        # An object of a kind with a grace period is marked first, even without one: watches see both steps.
        graceful = resource.strategy.grace_seconds(obj, options.grace_period_seconds) is not None
        if (graceful or not is_over(resource, after)) and after != obj:
            return self.accept(resource, "", obj, after).object
        return after

    def _delete_namespace(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        name = metadata_of(obj)["name"]
        if name in IMMORTAL:
            raise forbidden_request("", "namespaces", name, "this namespace may not be deleted")
        check_preconditions(resource, obj, options)
        if "deletionTimestamp" in metadata_of(obj):
            return obj
        ending = with_mark(resource, obj, replace(options, grace_period_seconds=None), self.now())
        ending = with_metadata(ending, deletionGracePeriodSeconds=None)
        ending = {**ending, "status": {**status_of(obj), "phase": "Terminating"}}
        if self._controllers:
            ending = with_finalizer(ending, None)
        after = self.accept(resource, "", obj, ending).object
        if self._controllers:
            self._empty(name)
            self._finish_namespace(name)
        elif is_over(resource, after):
            self.remove(resource, after)
        return after

    def _empty(self, namespace: str) -> None:
        """Delete all objects in a namespace. Objects with finalizers stay, marked for deletion."""
        for resource, obj in self._content(namespace):
            # Without a grace period, because there is no kubelet that would end the Pod.
            after = self._marked(resource, obj, DeleteOptions(grace_period_seconds=0))
            if is_over(resource, after):
                self.remove(resource, after)

    def _finish_namespace(self, namespace: str | None) -> None:
        """With controllers: remove a Terminating namespace if it is empty, else note in it what remains."""
        found = self.store.table("namespaces").get(("", namespace or ""))
        if not self._controllers or found is None or not is_terminating(found.object):
            return
        resource, obj = self.resources.named("namespaces"), found.object
        remaining = self._content(metadata_of(obj)["name"])
        if remaining:
            after = waiting(obj, remaining, self.now())
        else:
            after = {**obj, "spec": {**spec_of(obj), "finalizers": []}}
        if not remaining and is_over(resource, after):
            self.remove(resource, obj)
        elif after != obj:
            self.accept(resource, "", obj, after)

    def _content(self, namespace: str) -> Sequence[tuple[Resource, Object]]:
        """All objects in a namespace, each once."""
        tables = {one.strategy.table: one for one in self.resources if one.namespaced}
        return [
            (resource, stored.object)
            for resource in tables.values()
            for stored in self.page(resource, namespace, ListOptions()).items
        ]


# Guards


def _check_uid(resource: Resource, obj: Object, old: Object) -> None:
    """Check that the UID in a write is that of the stored object. Raises `ApiError` (409)."""
    wanted, uid = metadata_of(obj).get("uid"), metadata_of(old).get("uid")
    if wanted and wanted != uid:
        why = f"metadata.uid is {wanted}, and that of the object {uid or 'unset'}"
        raise conflict(resource.group, resource.plural, metadata_of(old)["name"], why)


def _check_version(resource: Resource, obj: Object, old: Object) -> None:
    """Check that a write was made from the stored version. Raises `ApiError`: 409, 422 without a version."""
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
