"""The API server without a network: the verbs, on objects in memory.

It does no I/O and reads no clock: the time, uids and randomness come in. One thread at a time. What it
returns are the objects themselves, shared with the store: copy before you change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime

from kruntimes_core.lab.apiserver import lists
from kruntimes_core.lab.apiserver.builtin import definitions
from kruntimes_core.lab.apiserver.builtin.catalogue import builtin_resources
from kruntimes_core.lab.apiserver.builtin.namespaces import check_takes
from kruntimes_core.lab.apiserver.custom import resources_of
from kruntimes_core.lab.apiserver.deleting import Deleter
from kruntimes_core.lab.apiserver.history import Stored
from kruntimes_core.lab.apiserver.names import generated
from kruntimes_core.lab.apiserver.objects import Object, key_of
from kruntimes_core.lab.apiserver.requests import (
    Answer,
    DeleteOptions,
    ListOptions,
    Patch,
    Write,
    WriteOptions,
)
from kruntimes_core.lab.apiserver.resources import Resource, Resources
from kruntimes_core.lab.apiserver.status import not_found
from kruntimes_core.lab.apiserver.store import HISTORY_LIMIT, Store, Table
from kruntimes_core.lab.apiserver.validation.rules import Compile, library
from kruntimes_core.lab.apiserver.watch import Watch
from kruntimes_core.lab.apiserver.writing import Writer

Observer = Callable[[Write], None]


class ApiServer:
    """Everything that a kube-apiserver does with the kinds of this system.

    `resources` says what is served; `observers` are told of each accepted write, before its answer.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        uid: Callable[[], str],
        source: random.Random | None = None,
        definitions_served: Sequence[Object] | None = None,
        history_limit: int = HISTORY_LIMIT,
        compiler: Compile | None = None,
        controllers: bool = False,
    ) -> None:
        """Empty, but for the namespaces `default` and `kube-system` and the CustomResourceDefinitions.

        now: an aware time; uid: a new one for each object; source: for generated names.
        definitions_served: CustomResourceDefinitions, by default those of this package.
        compiler: of the schemas' rules, by default the library's; see `rules_checked`.
        controllers: whether what kube-controller-manager does follows at once: a Terminating namespace
        is emptied and goes, and so does what waits for the garbage collector.
        """
        self.now = now
        self._uid = uid
        self._source = source if source is not None else random.Random(0)  # noqa: S311 - names, no secrets
        self._compiler = compiler if compiler is not None else library()
        self.store = Store(history_limit)
        self.resources = Resources(builtin_resources())
        self.observers: list[Observer] = []
        self.validating = True
        """Whether objects are judged. Unset it to let a test keep what no API server would."""
        self._writer = Writer(self)
        self._deleter = Deleter(self, controllers=controllers)
        self._begin(definitions.packaged_definitions() if definitions_served is None else definitions_served)

    @property
    def rules_checked(self) -> bool:
        """Whether the rules of the schemas are asked: they need the extra `kruntimes-core[dev]`."""
        return self._compiler is not None

    def _begin(self, served: Sequence[Object]) -> None:
        namespaces = self.resources.named("namespaces")
        for name in ("default", "kube-system"):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.create(namespaces, None, body)
        for definition in served:
            self.store.table(definitions.TABLE).put(definitions.stamped(definition, self._uid(), self.now()))
            self.serve(definition)

    def serve(self, definition: Object) -> None:
        """Serve what a CustomResourceDefinition describes, from now on."""
        for resource in resources_of(definition, self._compiler):
            self.resources.add(resource)

    # Reading

    def table(self, resource: Resource) -> Table:
        """The table that keeps the objects of a resource."""
        return self.store.table(resource.strategy.table)

    def stored(self, resource: Resource, namespace: str | None, name: str) -> Stored:
        """One object as it is kept. Raises `ApiError` (404)."""
        found = self.table(resource).get((namespace or "", name))
        if found is None:
            raise not_found(resource.group, resource.plural, name)
        return found

    def get(self, resource: Resource, namespace: str | None, name: str) -> Object:
        """One object. Raises `ApiError` (404)."""
        return resource.strategy.from_storage(self.stored(resource, namespace, name).object)

    def page(self, resource: Resource, namespace: str | None, options: ListOptions) -> lists.Page:
        """A list, or one page of it, as stored. namespace: None for all. Raises `ApiError`."""
        selection = lists.Selection(resource, namespace, options)
        return lists.page(self.table(resource), self.store.version, selection, options)

    def list(self, resource: Resource, namespace: str | None = None) -> Sequence[Object]:
        """All objects, whole and current."""
        items = self.page(resource, namespace, ListOptions()).items
        return [resource.strategy.from_storage(stored.object) for stored in items]

    def watch(
        self, resource: Resource, namespace: str | None, options: ListOptions, wake: Callable[[], None]
    ) -> Watch:
        """A watch; wake: see `Watch`. Raises `ApiError`: 400 and 422 for options, 410 for an old version."""
        options.check_watch()
        selection = lists.Selection(resource, namespace, options)
        version = options.version_number()
        from_now = version == 0 or options.send_initial_events
        since = None if from_now else version
        return Watch(self.table(resource), selection, since, lambda: self.store.version, wake)

    # Writing

    def create(
        self,
        resource: Resource,
        namespace: str | None,
        body: Object,
        options: WriteOptions | None = None,
    ) -> Answer:
        """Create an object. Raises `ApiError`: 400, 403, 404 (namespace), 409 (exists), 422."""
        return self._writer.create(resource, namespace or "", body, options or WriteOptions())

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
        options = options or WriteOptions()
        return self._writer.update(resource, namespace or "", name, body, subresource, options)

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
        options = options or WriteOptions()
        return self._writer.patch(resource, namespace or "", name, patch, subresource, options)

    def delete(
        self, resource: Resource, namespace: str | None, name: str, options: DeleteOptions | None = None
    ) -> Answer:
        """Delete an object, at once or when its grace and finalizers are over.

        Answers with the object while it stands (for Pods and Namespaces always), else with a Status.
        Raises `ApiError`: 403, 404, 409 (preconditions), 405.
        """
        return self._deleter.delete(resource, namespace, name, options or DeleteOptions())

    def delete_collection(
        self,
        resource: Resource,
        namespace: str | None,
        selected: ListOptions,
        options: DeleteOptions | None = None,
    ) -> lists.Page:
        """Delete every object of a selection; returns them as they were. Raises `ApiError`."""
        return self._deleter.delete_collection(resource, namespace, selected, options or DeleteOptions())

    # What writers use

    def accept(self, resource: Resource, subresource: str, before: Object | None, after: Object) -> Stored:
        """Keep what was judged, and tell the observers."""
        stored = self.table(resource).put(after)
        if resource.strategy.table == definitions.TABLE:
            self.serve(stored.object)
        self._tell(Write(resource.plural, resource.group, subresource, before, stored.object))
        return stored

    def remove(self, resource: Resource, obj: Object) -> Stored:
        """Take an object away for good, and tell the observers."""
        gone = self.table(resource).remove(key_of(obj))
        self._tell(Write(resource.plural, resource.group, "", obj, None))
        return gone

    def identity(self, metadata: Object) -> tuple[str, str]:
        """(uid, name) for a new object; the name is generated where only a base is given."""
        name = metadata.get("name") or ""
        if not name and metadata.get("generateName"):
            name = generated(metadata["generateName"], self._source)
        return self._uid(), name

    def check_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        """That objects can be created in a namespace. Raises `ApiError`: 404, or 403 while it ends."""
        if not resource.namespaced:
            return
        found = self.store.table("namespaces").get(("", namespace))
        if found is None:
            raise not_found("", "namespaces", namespace)
        check_takes(found.object, resource, name)

    def _tell(self, write: Write) -> None:
        for observer in self.observers:
            observer(write)
