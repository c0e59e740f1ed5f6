"""Runs and Runtime Pods on a real API server, written as their owners would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

from realcluster.client import PODS, RUNS, WORKSPACES, Client, KeptClient, Object, Resource
from realcluster.ledger import Ledger, Statuses, ledger_of

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'
"""What a Run of Runtime py waits for as long as no Pod can take it (API contract)."""

_KINDS = {RUNS: "Run", PODS: "Pod", WORKSPACES: "PersistentWorkspace"}


def now_text() -> str:
    """The time now, as the API writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def run_object(
    name: str, *, runtime: str = "py", labels: Mapping[str, str] | None = None, **spec: Any
) -> Object:
    """A Run that a server takes. spec: further fields of its spec."""
    task = {"mode": {"task": {"entrypoint": "main"}}, "source": {"inline": "print('done')"}}
    metadata = {"name": name, "labels": dict(labels or {})}
    return {**_head(RUNS), "metadata": metadata, "spec": {"runtime": runtime, **task, **spec}}


class Workload:
    """The objects of one namespace, and what its `ledger` saw of them. A Pod beats when it is told to."""

    def __init__(self, client: Client, namespace: str, ledger: Ledger) -> None:
        self.client = client
        self.namespace = namespace
        self.ledger = ledger
        self.wait = ledger.wait
        self.wait_for = ledger.wait_for

    # Runtime Pods

    def pod(
        self, name: str, runs: int = 4, runtime: str = "py", *, ready: bool = True, **capacity: int
    ) -> str:
        """A Runtime Pod that is alive, and its UID. capacity: of further resources."""
        container = {"name": "runtime", "image": "example.invalid/runtime:1"}
        annotations = {
            f"kruntimes.io/capacity.{resource}": str(amount)
            for resource, amount in {"runs": runs, **capacity}.items()
        }
        metadata = {"name": name, "labels": {"runtime": runtime}, "annotations": annotations}
        made = self._create(PODS, {"metadata": metadata, "spec": {"containers": [container]}})
        self.beat(name, ready=ready)
        return str(made["metadata"]["uid"])

    def beat(self, name: str, *, ready: bool = True) -> None:
        """A heartbeat, and whether the Pod is ready."""
        now = now_text()
        common = {"reason": "Test", "message": "", "lastTransitionTime": now}
        conditions = [
            {"type": "Ready", "status": str(ready), **common},
            {"type": "kruntimes.io/RuntimedReady", "status": "True", "lastProbeTime": now, **common},
        ]
        self._patch(PODS, name, {"status": {"phase": "Running", "conditions": conditions}}, "status")

    def delete_pod(self, name: str) -> None:
        """End a Pod at once."""
        answer = self.client.delete(PODS, name, self.namespace, gracePeriodSeconds=0)
        assert answer.status == 200, answer

    # Runs

    def run(
        self, name: str, *, runtime: str = "py", labels: Mapping[str, str] | None = None, **spec: Any
    ) -> Object:
        """A Run. spec: further fields of its spec."""
        return self._create(RUNS, run_object(name, runtime=runtime, labels=labels, **spec))

    def get(self, name: str) -> Object:
        """A Run as it stands."""
        found: Object = self.client.get(RUNS, name, self.namespace).body
        return found

    def write(self, name: str, **status: Any) -> None:
        """Merge something into a Run's status, as others than the scheduler do."""
        self._patch(RUNS, name, {"status": status}, "status")

    def end(self, names: Iterable[str]) -> None:
        """Let Runs succeed."""
        for name in names:
            self.write(name, phase="Succeeded", completionTime=now_text())

    def cancel(self, name: str) -> None:
        """Ask for a Run's cancellation."""
        self._patch(RUNS, name, {"spec": {"cancelRequested": True}})

    def label(self, name: str, **labels: str) -> None:
        """Label a Run, which makes a new version of it."""
        self._patch(RUNS, name, {"metadata": {"labels": labels}})

    def delete(self, name: str) -> None:
        """Delete a Run."""
        answer = self.client.delete(RUNS, name, self.namespace)
        assert answer.status == 200, answer

    def phases(self) -> dict[str, str]:
        """The phase of each Run now."""
        items = self.client.list(RUNS, self.namespace).body["items"]
        return {item["metadata"]["name"]: item.get("status", {}).get("phase", "") for item in items}

    # Workspaces

    def workspace(self, name: str, bound_pod: str = "", runtime: str = "py") -> None:
        """A PersistentWorkspace, bound to a Pod or pending."""
        self._create(WORKSPACES, {"metadata": {"name": name}, "spec": {"runtime": runtime}})
        if bound_pod:
            self.bind_workspace(name, bound_pod)

    def bind_workspace(self, name: str, pod: str) -> None:
        """Let a workspace live on a Pod."""
        self._patch(WORKSPACES, name, {"status": {"phase": "Bound", "boundPod": pod}}, "status")

    # Inside

    def _create(self, resource: Resource, obj: Object) -> Object:
        answer = self.client.create(resource, {**_head(resource), **obj}, self.namespace)
        assert answer.status == 201, answer
        made: Object = answer.body
        self._reach(resource, made)
        return made

    def _patch(self, resource: Resource, name: str, patch: Object, subresource: str | None = None) -> None:
        answer = self.client.patch(resource, name, patch, self.namespace, subresource)
        assert answer.status == 200, answer
        self._reach(resource, answer.body)

    def _reach(self, resource: Resource, obj: Object) -> None:
        """Wait until the ledger knows what was written, so that no wait is met by what was before."""
        if resource in (RUNS, PODS):
            self.ledger.reach(resource, obj)


def _head(resource: Resource) -> Object:
    version = f"{resource.group}/{resource.version}".lstrip("/")
    return {"apiVersion": version, "kind": _KINDS[resource]}


@contextmanager
def workload_in(client: Client, namespace: str) -> Iterator[Workload]:
    """A namespace to work in; at the end all invariants must have held after every event in it.

    client: a connection of it is kept, so all requests are for one thread.
    """
    with ledger_of(client, namespace) as ledger, closing(KeptClient(client)) as kept:
        yield Workload(kept, namespace, ledger)


def in_phase(statuses: Statuses, *phases: str) -> list[str]:
    """The names of the Runs in these phases, sorted."""
    return sorted(name for name, status in statuses.items() if status.get("phase", "Pending") in phases)


def placed(status: Mapping[str, Any]) -> bool:
    """Whether a Run has a Pod."""
    return status.get("phase") == "Scheduled"


def saying(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a Run's message is this text."""
    return lambda status: status.get("message") == text


def condition(status: Mapping[str, Any], kind: str) -> Object:
    """A condition by its type."""
    (found,) = [one for one in status["conditions"] if one["type"] == kind]
    return dict(found)
