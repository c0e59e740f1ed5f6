"""What the simulation knows of the API server's objects."""

from __future__ import annotations

from collections.abc import Iterator

from kruntimes_core.cluster.client.resources import PODS, RUNS, ApiResource
from kruntimes_core.lab.runtimes.objects import FOLLOWED, RUNTIMES, KnownObject, Object, ObjectRef

RUNTIME_LABEL = "runtime"
_UNUSED_SPEC = ("source", "env")


class World:
    """The newest version of each object, by resource."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[ObjectRef, KnownObject]] = {resource.plural: {} for resource in FOLLOWED}

    def find(self, ref: ObjectRef) -> KnownObject | None:
        """An object, None when there is none."""
        return self._tables[ref.plural].get(ref)

    def refs(self, resource: ApiResource) -> list[ObjectRef]:
        """All objects of a resource."""
        return list(self._tables[resource.plural])

    def put(self, ref: ObjectRef, seen: KnownObject) -> None:
        """Keep a version."""
        self._tables[ref.plural][ref] = seen

    def remove(self, ref: ObjectRef) -> KnownObject | None:
        """Forget an object."""
        return self._tables[ref.plural].pop(ref, None)

    # What rules ask

    def pod(self, namespace: str, name: str) -> Object | None:
        """A Pod, None when there is none."""
        seen = self.find(ObjectRef(PODS.plural, namespace, name))
        return None if seen is None else seen.object

    def pods(self, namespace: str, runtime: str) -> Iterator[Object]:
        """The Pods of a Runtime."""
        for seen in self._tables[PODS.plural].values():
            metadata = seen.object["metadata"]
            if metadata["namespace"] == namespace and runtime_of(seen.object) == runtime:
                yield seen.object

    def runtime(self, namespace: str, name: str) -> Object | None:
        """A Runtime, None when there is none."""
        seen = self.find(ObjectRef(RUNTIMES.plural, namespace, name))
        return None if seen is None else seen.object

    def objects(self, resource: ApiResource, namespace: str) -> Iterator[tuple[ObjectRef, Object]]:
        """The objects of a resource in a namespace."""
        for ref, seen in self._tables[resource.plural].items():
            if ref.namespace == namespace:
                yield ref, seen.object


def runtime_of(pod: Object) -> str:
    """The name of the Runtime that a Pod says it belongs to; empty when it says none."""
    labels = pod["metadata"].get("labels") or {}
    return str(labels.get(RUNTIME_LABEL, ""))


def lean(resource: ApiResource, obj: Object) -> Object:
    """The object without what is large and means nothing here: sources and environments of Runs."""
    if resource is not RUNS:
        return obj
    spec = {name: value for name, value in obj["spec"].items() if name not in _UNUSED_SPEC}
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {**obj, "metadata": metadata, "spec": spec}
