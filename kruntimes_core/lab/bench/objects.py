"""The objects of a load, as their owners and Pods would write them (API contract)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.model.times import format_time

Object = dict[str, Any]

BENCH_LABEL = "kruntimes.io/bench"
"""On everything that a bench makes in a cluster; its value tells the bench."""
ROLE_LABEL = "kruntimes.io/bench-role"
"""On Runs: what they are there for."""
COHORT_LABEL = "kruntimes.io/bench-cohort"
"""On Runs that must be beside those with the same value."""

_CAPACITY = "kruntimes.io/capacity."
_TOPOLOGY = "kruntimes.io/runtime-pod"
_OTHER_SCHEDULER = "kruntimes-bench"


def namespace_object(labels: Mapping[str, str]) -> Object:
    """A namespace that the server names."""
    metadata = {"generateName": "kruntimes-bench-", "labels": dict(labels)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def pod_object(
    name: str, runtime: str, capacity: Mapping[str, int], labels: Mapping[str, str] | None = None
) -> Object:
    """A Runtime Pod. Its `schedulerName` is the name of no scheduler, so no node runs it."""
    annotations = {_CAPACITY + resource: str(amount) for resource, amount in capacity.items()}
    container = {"name": "runtime", "image": "example.invalid/runtime:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"runtime": runtime, **(labels or {})},
            "annotations": annotations,
        },
        "spec": {"schedulerName": _OTHER_SCHEDULER, "containers": [container]},
    }


def run_object(
    name: str,
    runtime: str,
    labels: Mapping[str, str],
    requests: Mapping[str, int] | None = None,
    affinity: Object | None = None,
) -> Object:
    """A task of one line. requests: amounts by resource. affinity: see `near` and `rather_near`."""
    spec: Object = {
        "runtime": runtime,
        "mode": {"task": {"entrypoint": "main"}},
        "source": {"inline": "print('done')"},
    }
    if requests:
        spec["resources"] = {"requests": {resource: str(amount) for resource, amount in requests.items()}}
    if affinity is not None:
        spec["affinity"] = affinity
    return {
        "apiVersion": f"{RUNS.group}/{RUNS.version}",
        "kind": "Run",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": spec,
    }


def near(label: str, value: str) -> Object:
    """Required affinity: only beside a Run with that label, or as the first of them."""
    return {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(label, value)]}}


def rather_near(label: str, value: str) -> Object:
    """Preferred affinity: beside a Run with that label where possible."""
    preferred = {"weight": 50, "runAffinityTerm": _term(label, value)}
    return {"runAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}


def alive(probed_at: datetime) -> Object:
    """The status of a Pod that is ready and sent a heartbeat at that time."""
    common = {
        "status": "True",
        "reason": "Bench",
        "message": "",
        "lastTransitionTime": format_time(datetime.now(UTC)),
    }
    conditions = [
        {"type": "Ready", **common},
        {"type": "kruntimes.io/RuntimedReady", "lastProbeTime": format_time(probed_at), **common},
    ]
    return {"status": {"phase": "Running", "conditions": conditions}}


def running() -> Object:
    """What runtimed writes when it begins with a Run."""
    return {"status": {"phase": "Running", "startTime": format_time(datetime.now(UTC))}}


def ended() -> Object:
    """What runtimed writes when a Run is done."""
    return {"status": {"phase": "Succeeded", "completionTime": format_time(datetime.now(UTC))}}


def occupying(pod_name: str, pod_uid: str) -> Object:
    """The status of a Run that runs on a Pod without any scheduler's help."""
    return {"status": {**running()["status"], "assignedPod": pod_name, "assignedPodUID": pod_uid}}


def bare_bind(version: str, pod_name: str, number: int) -> Object:
    """A patch of the shape of a bind, for a Run that has ended: it changes a condition, and moves no Run."""
    condition = {
        "type": "Scheduled",
        "status": "True" if number % 2 else "False",
        "reason": "Assigned",
        "message": f"assigned to runtime pod {pod_name}",
        "lastTransitionTime": format_time(datetime.now(UTC)),
    }
    return {
        "metadata": {"resourceVersion": version},
        "status": {
            "phase": "Succeeded",
            "assignedPod": pod_name,
            "assignedPodUID": f"{number:08d}-0000-4000-8000-000000000000",
            "conditions": [condition],
        },
    }


def _term(label: str, value: str) -> Object:
    return {"labelSelector": {"matchLabels": {label: value}}, "topologyKey": _TOPOLOGY}
