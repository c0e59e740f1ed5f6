"""A Kubernetes API server in memory, as far as a scheduler can see one.

It keeps whole objects as JSON, gives integer versions, guards a status patch by its version, merges
it as RFC 7386 says, and tells each change as a watch event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from kruntimes_core.engine.api_calls import Applied, Found, NotFound, ReadAnswer, Refused, Write
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.harness.invariants import Invariants
from kruntimes_core.testing.objects import Object

RUNS, PODS, WORKSPACES = "Run", "Pod", "PersistentWorkspace"
Name = tuple[str, str]
"""(namespace, name)."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change of one object: `ADDED`, `MODIFIED` or `DELETED`, with the object as it is then."""

    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a kind at one version."""

    version: str
    objects: tuple[Object, ...]


class ApiServer:
    """Objects by kind and name. Every returned object is a copy that does not change any more."""

    def __init__(self, spell: Callable[[int], str] = str) -> None:
        """spell: how a version is written; integers as they are unless a test wants otherwise."""
        self.decoder = Decoder()
        self.invariants = Invariants()
        self.accepted: list[Write] = []
        """Every write that was applied, in order."""
        self._spell = spell
        self._version = 1
        self._objects: dict[str, dict[Name, Object]] = {RUNS: {}, PODS: {}, WORKSPACES: {}}
        self.events: dict[str, list[WatchEvent]] = {RUNS: [], PODS: [], WORKSPACES: []}
        """All changes of a kind since the beginning."""

    # What a client may do

    def create(self, obj: Object) -> Object:
        """Create an object, or replace the one of that name as if it had been deleted before."""
        kind, name = obj["kind"], _name(obj)
        if name in self._objects[kind]:
            self.delete(kind, *name)
        return self._store("ADDED", deepcopy(obj))

    def change(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any]) -> Object:
        """Change an object by an unguarded merge patch."""
        return self._store("MODIFIED", merged(self._objects[kind][namespace, name], patch))

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object at once."""
        gone = self._versioned(self._objects[kind].pop((namespace, name)))
        self.events[kind].append(WatchEvent("DELETED", gone))

    def patch_status(self, write: Write) -> Applied | Refused:
        """A guarded merge patch of a Run's status, as the scheduler sends it."""
        standing = self._objects[RUNS].get((write.namespace, write.name))
        if standing is None:
            return Refused(404)
        guard = write.body.get("metadata", {}).get("resourceVersion")
        if guard is not None and guard != standing["metadata"]["resourceVersion"]:
            return Refused(409)
        after = merged(standing, {"status": write.body["status"]})
        if after == standing:
            return Applied(standing["metadata"]["resourceVersion"])
        stored = self._store("MODIFIED", after)
        self.accepted.append(write)
        if "assignedPod" in write.body["status"]:
            self._check_bind(stored)
        return Applied(stored["metadata"]["resourceVersion"])

    def read(self, namespace: str, name: str) -> ReadAnswer:
        """A consistent read of a Run."""
        found = self._objects[RUNS].get((namespace, name))
        return Found(self.decoder.run(found)) if found is not None else NotFound()

    def list(self, kind: str) -> Listing:
        """All objects of a kind."""
        return Listing(self._spell(self._version), tuple(self._objects[kind].values()))

    # What a test may look at

    def get(self, kind: str, namespace: str, name: str) -> Object:
        """One object. Raises `KeyError` when there is none."""
        return self._objects[kind][namespace, name]

    def exists(self, kind: str, namespace: str, name: str) -> bool:
        """Whether there is such an object."""
        return (namespace, name) in self._objects[kind]

    def all(self, kind: str) -> Iterator[Object]:
        """All objects of a kind, in order of creation."""
        return iter(list(self._objects[kind].values()))

    # Inside

    def _store(self, type_: str, obj: Object) -> Object:
        stored = self._versioned(obj)
        self._objects[obj["kind"]][_name(obj)] = stored
        self.events[obj["kind"]].append(WatchEvent(type_, stored))
        return stored

    def _versioned(self, obj: Object) -> Object:
        self._version += 1
        metadata = {**obj["metadata"], "resourceVersion": self._spell(self._version)}
        return {**obj, "metadata": metadata}

    def _check_bind(self, stored: Object) -> None:
        run = self.decoder.run(stored)
        namespace = run.run.namespace
        found = self._objects[PODS].get((namespace, run.assigned_pod or ""))
        pod = self.decoder.pod(found) if found is not None else None
        going = found is not None and "deletionTimestamp" in found["metadata"]
        others = [
            self.decoder.run(other)
            for (place, _), other in self._objects[RUNS].items()
            if place == namespace and other is not stored
        ]
        self.invariants.bound(run, pod.pod if pod is not None and not going else None, others)


def merged(target: Any, patch: Any) -> Any:
    """`target` after the JSON merge patch `patch` (RFC 7386); neither is changed."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _name(obj: Object) -> Name:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]
