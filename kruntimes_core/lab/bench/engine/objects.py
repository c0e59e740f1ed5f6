"""API objects of a measured cluster, as an API server would send them, to be decoded as the host does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kruntimes_core.model.times import format_time

Object = dict[str, Any]
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_API_VERSION = "kruntimes.io/v1alpha1"
_TOPOLOGY_KEY = "kruntimes.io/runtime-pod"
_CAPACITY = "kruntimes.io/capacity."
# More than all Runs ask for: only `runs` is ever full, so that every workload knows what has room.
_PLENTY = "1000000000"


@dataclass(frozen=True, slots=True)
class Pool:
    """A Runtime in a namespace."""

    namespace: str
    runtime: str


def pod_object(pool: Pool, name: str, slots: int, version: str, probed_at: datetime) -> Object:
    """A Runtime Pod that is available for the staleness limit after `probed_at`."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(pool, name, version, {"runtime": pool.runtime})
        | {
            "annotations": {
                f"{_CAPACITY}runs": str(slots),
                f"{_CAPACITY}cpu": _PLENTY,
                f"{_CAPACITY}memory": _PLENTY,
            }
        },
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": "True"},
                {
                    "type": "kruntimes.io/RuntimedReady",
                    "status": "True",
                    "lastProbeTime": format_time(probed_at),
                },
            ],
        },
    }


def run_object(
    pool: Pool,
    name: str,
    version: str,
    *,
    request: Mapping[str, int],
    cohort: str,
    affinity: Object | None = None,
    status: Mapping[str, Any] | None = None,
) -> Object:
    """A Run of a cohort; Pending unless `status` says otherwise. request: amounts by resource."""
    spec: Object = {
        "runtime": pool.runtime,
        "mode": {"task": {"entrypoint": "main.py"}},
        "source": {"inline": "print('done')"},
        "resources": {"requests": {resource: str(amount) for resource, amount in request.items()}},
    }
    if affinity is not None:
        spec["affinity"] = affinity
    return {
        "apiVersion": _API_VERSION,
        "kind": "Run",
        "metadata": _metadata(pool, name, version, {"cohort": cohort}),
        "spec": spec,
        "status": dict(status or {"phase": "Pending"}),
    }


def near(cohort: str) -> Object:
    """Required affinity: only beside a Run of the cohort, or as its first."""
    return {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(cohort)]}}


def rather_near(cohort: str) -> Object:
    """Preferred affinity: beside a Run of the cohort where that can be had."""
    preferred = {"weight": 50, "runAffinityTerm": _term(cohort)}
    return {"runAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}


def on_pod(pod: str, phase: str) -> Object:
    """The status of a Run that is, or was, on a Pod."""
    return {"phase": phase, "assignedPod": pod, "assignedPodUID": uid(pod)}


def uid(name: str) -> str:
    """The UID of the object of a name; its namespace tells equal names apart."""
    return f"uid-{name}"


def _term(cohort: str) -> Object:
    return {"labelSelector": {"matchLabels": {"cohort": cohort}}, "topologyKey": _TOPOLOGY_KEY}


def _metadata(pool: Pool, name: str, version: str, labels: Mapping[str, str]) -> Object:
    return {
        "namespace": pool.namespace,
        "name": name,
        "uid": uid(name),
        "resourceVersion": version,
        "creationTimestamp": format_time(START),
        "labels": dict(labels),
    }
