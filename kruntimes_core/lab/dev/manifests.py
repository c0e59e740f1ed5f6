"""The objects that a development cluster starts with, and the Runs that its workloads consist of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.cluster.client.resources import RUNS

Object = dict[str, Any]

NAMESPACE = "default"
_API_VERSION = f"{RUNS.group}/{RUNS.version}"
_CAPACITY = "kruntimes.io/capacity."
_TOPOLOGY = "kruntimes.io/runtime-pod"


def runtime(name: str, replicas: int, capacity: Mapping[str, str]) -> Object:
    """A Runtime whose Pods advertise a capacity: resource to quantity."""
    annotations = {_CAPACITY + resource: amount for resource, amount in capacity.items()}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "runtime"}]}}
    return _object("Runtime", name, {}, {"replicas": replicas, "template": template})


def workspace(name: str, of_runtime: str) -> Object:
    """A PersistentWorkspace."""
    return _object("PersistentWorkspace", name, {}, {"runtime": of_runtime})


def run(name: str, of_runtime: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A task, or whatever `mode` in `spec` says."""
    mode = {"task": {"entrypoint": "main.py"}}
    return _object("Run", name, labels or {}, {"runtime": of_runtime, "mode": mode, **spec})


def required(labels: Mapping[str, str]) -> Object:
    """Only beside Runs with these labels; the first of them goes where it likes."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [_term(labels)]}


def preferred(labels: Mapping[str, str]) -> Object:
    """Rather beside Runs with these labels."""
    term = {"weight": 100, "runAffinityTerm": _term(labels)}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}


def _term(labels: Mapping[str, str]) -> Object:
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": _TOPOLOGY}


def _object(kind: str, name: str, labels: Mapping[str, str], spec: Object) -> Object:
    metadata = {"namespace": NAMESPACE, "name": name, **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
