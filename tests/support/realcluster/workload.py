"""Runs and Runtime Pods on a real API server, written as their owners would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from realcluster.client import PODS, RUNS, WORKSPACES, Client, Object

Statuses = Mapping[str, Mapping[str, Any]]
"""The status of each Run, by name."""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Workload:
    """The objects of one namespace. A Pod has one heartbeat, and more with `beat`."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.pods: list[str] = []

    def pod(self, name: str, runs: int = 4, runtime: str = "py") -> None:
        """A Runtime Pod that is ready and alive."""
        container = {"name": "runtime", "image": "example.invalid/runtime:1"}
        annotations = {"kruntimes.io/capacity.runs": str(runs)}
        metadata = {"name": name, "labels": {"runtime": runtime}, "annotations": annotations}
        self._create(PODS, {"metadata": metadata, "spec": {"containers": [container]}})
        self.pods.append(name)
        self.beat(name)

    def beat(self, *names: str) -> None:
        """A heartbeat of these Pods, of all without names."""
        now = _now()
        common = {"status": "True", "reason": "Test", "message": "", "lastTransitionTime": now}
        conditions = [
            {"type": "Ready", **common},
            {"type": "kruntimes.io/RuntimedReady", "lastProbeTime": now, **common},
        ]
        for name in names or self.pods:
            self._patch(PODS, name, {"status": {"phase": "Running", "conditions": conditions}})

    def run(self, name: str, *, runtime: str = "py", **spec: Any) -> None:
        """A Run. spec: further fields of its spec."""
        task = {"mode": {"task": {"entrypoint": "main"}}, "source": {"inline": "print('done')"}}
        self._create(RUNS, {"metadata": {"name": name}, "spec": {"runtime": runtime, **task, **spec}})

    def workspace(self, name: str, bound_pod: str, runtime: str = "py") -> None:
        """A PersistentWorkspace, bound to a Pod."""
        self._create(WORKSPACES, {"metadata": {"name": name}, "spec": {"runtime": runtime}})
        self._patch(WORKSPACES, name, {"status": {"phase": "Bound", "boundPod": bound_pod}})

    def end(self, names: Iterable[str]) -> None:
        """Let Runs succeed."""
        for name in names:
            self._patch(RUNS, name, {"status": {"phase": "Succeeded", "completionTime": _now()}})

    def cancel(self, name: str) -> None:
        """Ask for a Run's cancellation."""
        answer = self.client.patch(RUNS, name, {"spec": {"cancelRequested": True}}, self.namespace)
        assert answer.status == 200, answer

    def wait(self, holds: Callable[[Statuses], bool], seconds: int = 30) -> Statuses:
        """Watch the Runs until something holds of them, and give their statuses; fails after `seconds`."""
        listed = self.client.list(RUNS, self.namespace).body
        statuses = {item["metadata"]["name"]: item.get("status", {}) for item in listed["items"]}
        version = listed["metadata"]["resourceVersion"]
        with closing(
            self.client.watch(RUNS, self.namespace, seconds=seconds, resourceVersion=version)
        ) as events:
            while not holds(statuses):
                event = next(events, None)
                assert event is not None, f"still not so after {seconds} s: {statuses}"
                run = event["object"]
                statuses[run["metadata"]["name"]] = run.get("status", {})
        return statuses

    def phases(self) -> dict[str, str]:
        """The phase of each Run now."""
        items = self.client.list(RUNS, self.namespace).body["items"]
        return {item["metadata"]["name"]: item.get("status", {}).get("phase", "") for item in items}

    def _create(self, resource: Any, obj: Object) -> None:
        kind = {RUNS: "Run", PODS: "Pod", WORKSPACES: "PersistentWorkspace"}[resource]
        version = f"{resource.group}/{resource.version}".lstrip("/")
        answer = self.client.create(resource, {"apiVersion": version, "kind": kind, **obj}, self.namespace)
        assert answer.status == 201, answer

    def _patch(self, resource: Any, name: str, patch: Object) -> None:
        answer = self.client.patch(resource, name, patch, self.namespace, subresource="status")
        assert answer.status == 200, answer
