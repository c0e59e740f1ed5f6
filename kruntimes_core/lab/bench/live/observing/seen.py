"""What the bench keeps of each version of a Run or a Pod that its watches showed.

It is read from the objects as the API contract has them, and not by the scheduler's own decoding: a
mistake there must not hide here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STARTED = frozenset({"Running", "Ready"})
_ACTIVE = STARTED | {"Scheduled"}
ENDED = frozenset({"Succeeded", "Failed", "Timeout", "Cancelled"})
_CAPACITY = "kruntimes.io/capacity."
_READY = frozenset({"Ready", "kruntimes.io/RuntimedReady"})
_DEFAULT_SLOTS = 2
# What every write moves, and what may move without anything having changed.
_OF_EACH_VERSION = frozenset({"resourceVersion", "managedFields"})
_OF_A_MOMENT = "lastTransitionTime"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One version of an object, or its end."""

    namespace: str
    name: str
    uid: str
    version: str
    gone: bool = False

    @property
    def order(self) -> int:
        """Its place among all versions of all objects: revisions of one store."""
        return int(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRun(Seen):
    """One version of a Run."""

    phase: str = "Pending"
    pod: str = ""
    pod_uid: str = ""
    attempt: int = 1
    runtime: str = ""
    role: str = ""
    cohort: str = ""
    """Which Runs it must be beside; empty for none."""
    requests: Mapping[str, int]
    substance: int = 0
    """Equal for versions in which everything is equal but the version itself, and moments."""

    @property
    def active(self) -> bool:
        """Whether it holds room of a Pod."""
        return not self.gone and self.phase in _ACTIVE and bool(self.pod_uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPod(Seen):
    """One version of a Pod."""

    ready: bool = False
    runtime: str = ""
    capacity: Mapping[str, int]


def seen_run(obj: Object, role_label: str = "", cohort_label: str = "", *, gone: bool = False) -> SeenRun:
    """Read a Run. role_label, cohort_label: which labels have its role and its cohort.

    gone: this is the last that is seen of it.
    """
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    labels = metadata.get("labels") or {}
    return SeenRun(
        **_identity(metadata),
        gone=gone,
        phase=status.get("phase") or "Pending",
        pod=status.get("assignedPod") or "",
        pod_uid=status.get("assignedPodUID") or "",
        attempt=int(status.get("attempt") or 1),
        runtime=spec.get("runtime") or "",
        role=labels.get(role_label, ""),
        cohort=labels.get(cohort_label, ""),
        requests={"runs": 1, **_amounts((spec.get("resources") or {}).get("requests") or {})},
        substance=_substance(obj),
    )


def seen_pod(obj: Object, *, gone: bool = False) -> SeenPod:
    """Read a Pod. gone: as for a Run."""
    metadata, status = obj["metadata"], obj.get("status") or {}
    annotations = metadata.get("annotations") or {}
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    return SeenPod(
        **_identity(metadata),
        gone=gone,
        ready=true >= _READY and status.get("phase") == "Running" and "deletionTimestamp" not in metadata,
        runtime=(metadata.get("labels") or {}).get("runtime", ""),
        capacity={
            "runs": _DEFAULT_SLOTS,
            **{
                key.removeprefix(_CAPACITY): int(amount)
                for key, amount in annotations.items()
                if key.startswith(_CAPACITY)
            },
        },
    )


def _amounts(requests: Object) -> dict[str, int]:
    """The amounts that are plain numbers, as all of a bench are: what cannot be read holds no room."""
    return {name: int(amount) for name, amount in requests.items() if str(amount).isdecimal()}


def _identity(metadata: Object) -> dict[str, Any]:
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "version": metadata["resourceVersion"],
    }


def _substance(obj: Object) -> int:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_EACH_VERSION}
    status = dict(obj.get("status") or {})
    conditions = [
        {key: value for key, value in one.items() if key != _OF_A_MOMENT}
        for one in status.pop("conditions", None) or ()
    ]
    return hash(repr((metadata, obj.get("spec"), status, conditions)))
