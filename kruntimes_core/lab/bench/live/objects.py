"""The objects of a load, as their owners would write them (API contract)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.model.times import format_time

Object = dict[str, Any]

BENCH_LABEL = "kruntimes.io/bench"
"""On everything that a bench makes; its value tells the bench."""
ROLE_LABEL = "kruntimes.io/bench-role"
"""On Runs: what they are there for."""
COHORT_LABEL = "kruntimes.io/bench-cohort"
ACCELERATOR = "accelerators"
"""A resource of which each Pod has one, in use from the beginning, where Runs are to wait for it."""

_NOBODY = "kruntimes-bench"
_TOPOLOGY = "kruntimes.io/runtime-pod"
_CAPACITY = "kruntimes.io/capacity."
_AHEAD = timedelta(hours=1)


def namespace(bench: str) -> Object:
    """A namespace that the server names."""
    metadata = {"generateName": "kruntimes-bench-", "labels": {BENCH_LABEL: bench}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def pod(name: str, bench: str, runtime: str, capacity: Mapping[str, int]) -> Object:
    """A Runtime Pod. Its `schedulerName` is nobody's, so that no node takes it."""
    annotations = {_CAPACITY + resource: str(amount) for resource, amount in capacity.items()}
    labels = {"runtime": runtime, BENCH_LABEL: bench}
    container = {"name": "runtime", "image": "example.invalid/runtime:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"schedulerName": _NOBODY, "containers": [container]},
    }


def run(
    name: str,
    bench: str,
    role: str,
    runtime: str,
    requests: Mapping[str, int] | None = None,
    cohort: str | None = None,
) -> Object:
    """A task of one line. cohort: it must be beside the Runs of the same one."""
    labels = {BENCH_LABEL: bench, ROLE_LABEL: role}
    spec: Object = {
        "runtime": runtime,
        "mode": {"task": {"entrypoint": "main"}},
        "source": {"inline": "print('done')"},
    }
    if requests:
        spec["resources"] = {"requests": dict(requests)}
    if cohort is not None:
        labels[COHORT_LABEL] = cohort
        term = {"labelSelector": {"matchLabels": {COHORT_LABEL: cohort}}, "topologyKey": _TOPOLOGY}
        spec["affinity"] = {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {
        "apiVersion": f"{RUNS.group}/{RUNS.version}",
        "kind": "Run",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    }


def alive(now: datetime, *, ahead: bool = False) -> Object:
    """The status of a Pod that is ready and sends heartbeats. ahead: this one is to last."""
    said = format_time(now)
    common = {"status": "True", "reason": "Bench", "message": "", "lastTransitionTime": said}
    probed = format_time(now + _AHEAD) if ahead else said
    conditions = [
        {"type": "Ready", **common},
        {"type": "kruntimes.io/RuntimedReady", "lastProbeTime": probed, **common},
    ]
    return {"status": {"phase": "Running", "conditions": conditions}}


def running() -> Object:
    """What runtimed writes when it begins with a Run."""
    return {"status": {"phase": "Running", "startTime": format_time(datetime.now(UTC))}}


def ended() -> Object:
    """What runtimed writes when a Run is done."""
    return {"status": {"phase": "Succeeded", "completionTime": format_time(datetime.now(UTC))}}


def occupying(pod_name: str, pod_uid: str) -> Object:
    """The status of a Run that is on a Pod without any scheduler's help."""
    return {"status": {**running()["status"], "assignedPod": pod_name, "assignedPodUID": pod_uid}}


def bare_bind(version: str, pod_name: str, number: int) -> Object:
    """A patch of the shape of a bind, for a Run that has ended: it changes a condition, and moves nobody."""
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
