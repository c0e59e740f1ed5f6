"""The API server without a network: the verbs, on objects in memory.

It does no I/O and reads no clock: the time, uids and randomness come in. One thread at a time. What it
returns are the objects themselves, shared with the store: copy before you change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime

from kruntimes_core.crds import crds
from kruntimes_core.lab.apiserver.deletion import Deleter
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.registry import Registry
from kruntimes_core.lab.apiserver.requests import Answer, DeleteOptions, ListOptions, Patch, WriteOptions
from kruntimes_core.lab.apiserver.rules import Compile
from kruntimes_core.lab.apiserver.storage import HISTORY_LIMIT
from kruntimes_core.lab.apiserver.watch_cache import Page, Selection, Watch
from kruntimes_core.lab.apiserver.writing import Writer


class ApiServer(Registry):
    """Everything that a kube-apiserver does with the kinds of this system."""

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
        super().__init__(now=now, uid=uid, source=source, history_limit=history_limit, compiler=compiler)
        self._writer = Writer(self)
        self._deleter = Deleter(self, controllers=controllers)
        self._begin(crds() if definitions_served is None else definitions_served)

    def _begin(self, served: Sequence[Object]) -> None:
        namespaces = self.resources.named("namespaces")
        for name in ("default", "kube-system"):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.create(namespaces, None, body)
        for definition in served:
            self.define(definition)

    # Reading

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
    ) -> Page:
        """Delete every object of a selection; returns them as they were. Raises `ApiError`."""
        return self._deleter.delete_collection(resource, namespace, selected, options or DeleteOptions())
