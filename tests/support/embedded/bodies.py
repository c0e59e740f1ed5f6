"""Bodies of requests, as a client sends them: no more than the API demands."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
RUNS_API = "kruntimes.io/v1alpha1"
NAMESPACE = "team-a"


def metadata_body(name: str | None, metadata: Object) -> Object:
    """Metadata with this name, unless it names none."""
    return {key: value for key, value in {"name": name, **metadata}.items() if value is not None}


def run_body(name: str | None = "r1", *, spec: Object | None = None, **metadata: Any) -> Object:
    """A Run of runtime py that starts m.py; spec: what differs."""
    whole = {"runtime": "py", "mode": {"task": {"entrypoint": "m.py"}}, **(spec or {})}
    return {
        "apiVersion": RUNS_API,
        "kind": "Run",
        "metadata": metadata_body(name, metadata),
        "spec": {key: value for key, value in whole.items() if value is not None},
    }


def workspace_body(name: str = "w1", **metadata: Any) -> Object:
    """A PersistentWorkspace of runtime py."""
    return {
        "apiVersion": RUNS_API,
        "kind": "PersistentWorkspace",
        "metadata": metadata_body(name, metadata),
        "spec": {"runtime": "py"},
    }


def pod_body(name: str | None = "py-0", *, spec: Object | None = None, **metadata: Any) -> Object:
    """A Pod of runtime py."""
    container = {"name": "runtime", "image": "runtime:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata_body(name, {"labels": {"runtime": "py"}, **metadata}),
        "spec": {"containers": [container], **(spec or {})},
    }


def namespace_body(name: str = NAMESPACE, **metadata: Any) -> Object:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata_body(name, metadata)}


def lease_body(name: str = "l1", **spec: Any) -> Object:
    """A Lease."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": spec,
    }


def event_body(name: str = "e1", **fields: Any) -> Object:
    """An Event of the new group about the Run r1, complete."""
    whole: Object = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "eventTime": "2026-01-02T03:04:05.000000Z",
        "reportingController": "kruntimes.io/scheduler",
        "reportingInstance": "host-1",
        "action": "Binding",
        "reason": "Assigned",
        "type": "Normal",
        "note": "assigned to runtime pod py-0",
        "regarding": {"kind": "Run", "namespace": NAMESPACE, "name": "r1", "apiVersion": RUNS_API},
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not None}
