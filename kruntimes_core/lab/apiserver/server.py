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
from kruntimes_core.lab.apiserver.requests import ListOptions
from kruntimes_core.lab.apiserver.storage import HISTORY_LIMIT
from kruntimes_core.lab.apiserver.watch_cache import Selection, Watch
from kruntimes_core.lab.apiserver.writing import Writer


class ApiServer(Writer, Deleter):
    """Everything that a kube-apiserver does with the kinds of this system."""

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
