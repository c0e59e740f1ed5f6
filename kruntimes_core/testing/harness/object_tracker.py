"""The objects of an embedded API server, as a test reads and changes them, and each write checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.crds import crds
from kruntimes_core.engine.api_calls import Applied, Found, NotFound, ReadAnswer, Refused, Write
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE
from kruntimes_core.lab.apiserver.objects import with_metadata
from kruntimes_core.lab.apiserver.patches import merge_patched
from kruntimes_core.lab.apiserver.requests import AcceptedWrite, Patch
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.storage import Change, Table
from kruntimes_core.lab.invariants import READERS, Invariant, InvariantChecker
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.objects import Object

RUNS, PODS, WORKSPACES = "Run", "Pod", "PersistentWorkspace"
PLURALS = {RUNS: "runs", PODS: "pods", WORKSPACES: "persistentworkspaces"}
_ALL_CHANGES = 1_000_000


class BrokenInvariantError(AssertionError):
    """The scheduler oversold a Pod, bound a Run twice, bound it to a Pod that is not there, or the like."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a kind at one version."""

    version: str
    objects: tuple[Object, ...]


class ObjectTracker:
    """Objects by kind and name. They are shared with the server: copy one before you change it.

    `api` is the server itself. A scheduler's writes go through it, and are judged by it; what a test
    creates or changes is kept as it is, so that a test can have objects that no client could write.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: NOW,
        spell: Callable[[int], str] = str,
        pods_may_go: bool = False,
    ) -> None:
        """spell: how versions are written; integers as they are unless a test wants otherwise.

        pods_may_go: see `InvariantChecker`.
        """
        numbers = count(1)
        self.api = ApiServer(
            now=now,
            uid=lambda: f"uid-{next(numbers)}",
            source=Random(1),  # noqa: S311 - names, no secrets
            definitions_served=_definitions(),
            history_limit=_ALL_CHANGES,
        )
        self.add_namespace(NAMESPACE)
        self.api.observers.append(self._check)
        self._resources = {kind: self.api.resources.named(plural) for kind, plural in PLURALS.items()}
        self.decoder = Decoder()
        self.invariants = InvariantChecker(pods_may_go=pods_may_go)
        self.accepted: list[Write] = []
        """Every write of `patch_status` that changed something, in order."""
        self._spell = spell

    # What a client may do

    def create(self, obj: Object) -> Object:
        """Create an object, or replace the one of that name as if it had been deleted before."""
        kind, metadata = obj["kind"], obj["metadata"]
        if self.exists(kind, metadata["namespace"], metadata["name"]):
            self.delete(kind, metadata["namespace"], metadata["name"])
        return self._spelled(self.api.accept(self._resources[kind], "", None, deepcopy(obj)).object)

    def change(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any]) -> Object:
        """Change an object by an unguarded merge patch."""
        before = self._stored(kind, namespace, name)
        after = merge_patched(before, deepcopy(dict(patch)))
        return self._spelled(self.api.accept(self._resources[kind], "", before, after).object)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object at once."""
        self.api.remove(self._resources[kind], self._stored(kind, namespace, name))

    def patch_status(self, write: Write) -> Applied | Refused:
        """A guarded merge patch of a Run's status, as the scheduler sends it.

        Raises `BrokenInvariantError` once it was applied.
        """
        place = (self._resources[RUNS], write.namespace, write.name)
        try:
            before = self.api.get(*place)
            body = self._with_true_version(write.body, before)
            after = self.api.patch(*place, Patch(MERGE, body), "status").object
        except ApiError as error:
            return Refused(error.code)
        if after is not before:
            self.accepted.append(write)
        return Applied(self._spelled(after)["metadata"]["resourceVersion"])

    def add_namespace(self, name: str) -> None:
        """Create a Namespace. Runs, Pods and workspaces need none; Events do."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.api.create(self.api.resources.named("namespaces"), None, body)

    def read(self, namespace: str, name: str) -> ReadAnswer:
        """A consistent read of a Run."""
        if not self.exists(RUNS, namespace, name):
            return NotFound()
        return Found(self.decoder.run(self.get(RUNS, namespace, name)))

    def list(self, kind: str) -> Listing:
        """All objects of a kind."""
        return Listing(self._spell(self.api.store.version), tuple(self.all(kind)))

    # What a test may look at

    def get(self, kind: str, namespace: str, name: str) -> Object:
        """One object. Raises `KeyError` when there is none."""
        return self._spelled(self._stored(kind, namespace, name))

    def exists(self, kind: str, namespace: str, name: str) -> bool:
        """Whether there is such an object."""
        return self._table(kind).get((namespace, name)) is not None

    def all(self, kind: str) -> Iterator[Object]:
        """All objects of a kind, in order of their names."""
        return (self._spelled(stored.object) for stored in self._table(kind).now())

    def changes(self, kind: str, since: int = 0) -> Sequence[Change]:
        """The changes of a kind that are later than a version, in order."""
        return self._table(kind).history.after(since)

    def told(self, change: Change) -> Object:
        """What a watch tells of a change: the object as it is then, or was at the end."""
        return self._spelled(change.told.object)

    # Inside

    def _table(self, kind: str) -> Table:
        return self.api.table(self._resources[kind])

    def _stored(self, kind: str, namespace: str, name: str) -> Object:
        found = self._table(kind).get((namespace, name))
        if found is None:
            raise KeyError(f"{kind} {namespace}/{name}")
        return found.object

    def _spelled(self, obj: Object) -> Object:
        version = self._spell(int(obj["metadata"]["resourceVersion"]))
        return with_metadata(obj, resourceVersion=version) if self._spell is not str else obj

    def _with_true_version(self, body: Mapping[str, Any], before: Object) -> Mapping[str, Any]:
        """The body with the version as the server writes it. Raises `ApiError` for another guard."""
        metadata = dict(body.get("metadata", {}))
        guard = metadata.get("resourceVersion")
        if guard is not None:
            if guard != self._spelled(before)["metadata"]["resourceVersion"]:
                raise ApiError(409, "Conflict", "the object has been modified")
            metadata["resourceVersion"] = before["metadata"]["resourceVersion"]
        return {**body, "metadata": metadata}

    def _check(self, write: AcceptedWrite) -> None:
        reader = READERS.get(write.plural)
        obj = write.after or write.before
        if reader is not None and obj is not None:
            # Only a scheduler writes a status through the server; all else is done by the test.
            violations = self.invariants.take(
                reader(obj, gone=write.after is None), judged=write.subresource == "status"
            )
            # A scheduler does end Runs: those that are cancelled or cannot be read.
            broken = [one.text for one in violations if one.invariant is not Invariant.RUN_LOST]
            if broken:
                raise BrokenInvariantError("; ".join(broken))


@cache
def _definitions() -> list[Object]:
    return crds()
