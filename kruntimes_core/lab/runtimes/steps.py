"""What a rule of the simulation says: for one object, the next request and when it is due."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource

Object = Mapping[str, Any]

RUNTIMES = ApiResource(plural="runtimes", group=RUNS.group, version=RUNS.version, optional=True)
FOLLOWED = (RUNTIMES, PODS, RUNS, WORKSPACES)
"""What the simulation reads."""


class Ref(NamedTuple):
    """One object."""

    plural: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as it is known, and since when (in ticks) it stands where it stands."""

    object: Object
    stage: Hashable
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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
class Step:
    """A request that is due at some moment, in ticks, and is made then, with the wall clock's time."""

    at: int
    make: Callable[[datetime], Request]


def ref_of(resource: ApiResource, obj: Object) -> Ref:
    """The object's reference."""
    metadata = obj["metadata"]
    return Ref(resource.plural, metadata.get("namespace", ""), metadata["name"])


def patch_status(resource: ApiResource, obj: Object, status: Mapping[str, Any]) -> Request:
    """Change fields of the status; None takes one away."""
    ref = ref_of(resource, obj)
    return Request(
        method="PATCH",
        resource=resource,
        namespace=ref.namespace,
        name=ref.name,
        subresource="status",
        body={"metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]}, "status": status},
    )


def delete(resource: ApiResource, obj: Object, grace_seconds: int | None = None) -> Request:
    """Take exactly this object away. grace_seconds: None for its own."""
    ref = ref_of(resource, obj)
    body: dict[str, Any] = {"preconditions": {"uid": obj["metadata"]["uid"]}}
    if grace_seconds is not None:
        body["gracePeriodSeconds"] = grace_seconds
    return Request(method="DELETE", resource=resource, namespace=ref.namespace, name=ref.name, body=body)
