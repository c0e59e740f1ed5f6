"""The objects that the simulation knows, and what a rule says of one: the next request and when it is due."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.model.pod import RUNTIME_LABEL

Object = Mapping[str, Any]

RUNTIMES = ApiResource(plural="runtimes", group=RUNS.group, version=RUNS.version, optional=True)
FOLLOWED = (RUNTIMES, PODS, RUNS, WORKSPACES)
"""What the simulation reads."""


class ObjectRef(NamedTuple):
    """One object."""

    plural: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class KnownObject:
    """An object as it is known, and since when (in ticks) it stands where it stands."""

    object: Object
    stage: Hashable
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """One write. Patches are merge patches, guarded by the version that they were decided from."""

    method: str
    resource: ApiResource
    namespace: str
    name: str = ""
    """Empty for a creation."""
    subresource: str = ""
    body: Mapping[str, Any]

    @property
    def guard(self) -> str | None:
        """The version that a patch was decided from."""
        version = self.body.get("metadata", {}).get("resourceVersion")
        return version if self.method == "PATCH" else None


@dataclass(frozen=True, slots=True)
class NextRequest:
    """A request that is due at some moment, in ticks, and is made then, with the wall clock's time."""

    at: int
    make: Callable[[datetime], WriteRequest]


def ref_of(resource: ApiResource, obj: Object) -> ObjectRef:
    """The object's reference."""
    metadata = obj["metadata"]
    return ObjectRef(resource.plural, metadata.get("namespace", ""), metadata["name"])


def patch_status(resource: ApiResource, obj: Object, status: Mapping[str, Any]) -> WriteRequest:
    """Change fields of the status; None takes one away."""
    ref = ref_of(resource, obj)
    return WriteRequest(
        method="PATCH",
        resource=resource,
        namespace=ref.namespace,
        name=ref.name,
        subresource="status",
        body={"metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]}, "status": status},
    )


def delete(resource: ApiResource, obj: Object, grace_seconds: int | None = None) -> WriteRequest:
    """Take exactly this object away. grace_seconds: None for its own."""
    ref = ref_of(resource, obj)
    body: dict[str, Any] = {"preconditions": {"uid": obj["metadata"]["uid"]}}
    if grace_seconds is not None:
        body["gracePeriodSeconds"] = grace_seconds
    return WriteRequest(method="DELETE", resource=resource, namespace=ref.namespace, name=ref.name, body=body)


_UNUSED_SPEC = ("source", "env")


class ObjectIndex:
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

    def object(self, resource: ApiResource, namespace: str, name: str) -> Object | None:
        """An object, None when there is none."""
        seen = self.find(ObjectRef(resource.plural, namespace, name))
        return None if seen is None else seen.object

    def pods(self, namespace: str, runtime: str) -> Iterator[Object]:
        """The Pods of a Runtime."""
        for seen in self._tables[PODS.plural].values():
            metadata = seen.object["metadata"]
            if metadata["namespace"] == namespace and runtime_of(seen.object) == runtime:
                yield seen.object

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
