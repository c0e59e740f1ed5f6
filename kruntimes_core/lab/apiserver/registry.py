"""The resources that are served, their objects, and the observers of each change: the verbs stand on this."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime

from kruntimes_core.lab.apiserver.errors import not_found
from kruntimes_core.lab.apiserver.kinds.builtin import builtin_resources, check_takes
from kruntimes_core.lab.apiserver.kinds.custom_resources import DEFINITIONS_TABLE, resources_of
from kruntimes_core.lab.apiserver.kinds.strategy import Resource, Resources
from kruntimes_core.lab.apiserver.metadata import generated
from kruntimes_core.lab.apiserver.objects import Object, key_of
from kruntimes_core.lab.apiserver.requests import AcceptedWrite, ListOptions
from kruntimes_core.lab.apiserver.storage import Store, Stored, Table
from kruntimes_core.lab.apiserver.watch_cache import Page, Selection, Watch, list_page

Observer = Callable[[AcceptedWrite], None]


class Registry:
    """Resources, their objects, and who is told of changes.

    `resources` says what is served; `observers` are told of each accepted write, before its answer.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        uid: Callable[[], str],
        source: random.Random | None,
        history_limit: int,
        controllers: bool,
    ) -> None:
        """See `ApiServer`."""
        self.now = now
        self._uid = uid
        self._controllers = controllers
        self._source = source if source is not None else random.Random(0)  # noqa: S311 - names, no secrets
        self.store = Store(history_limit)
        self.resources = Resources(builtin_resources())
        self.observers: list[Observer] = []
        self.validating = True
        """Whether objects are validated. A test unsets it to keep what no API server would."""

    # What is there

    def table(self, resource: Resource) -> Table:
        """The table that keeps the objects of a resource."""
        return self.store.table(resource.strategy.table)

    def stored(self, resource: Resource, namespace: str | None, name: str) -> Stored:
        """One object as it is kept. Raises `ApiError` (404)."""
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
        """Keep what was found valid, and tell the observers."""
        stored = self.table(resource).put(after)
        if resource.strategy.table == DEFINITIONS_TABLE:
            for described in resources_of(stored.object):
                self.resources.add(described)
        self._tell(AcceptedWrite(resource.plural, resource.group, subresource, before, stored.object))
        return stored

    def remove(self, resource: Resource, obj: Object) -> Stored:
        """Take an object away for good, and tell the observers."""
        gone = self.table(resource).remove(key_of(obj))
        self._tell(AcceptedWrite(resource.plural, resource.group, "", obj, None))
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

    def _tell(self, write: AcceptedWrite) -> None:
        for observer in self.observers:
            observer(write)
