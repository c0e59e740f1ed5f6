"""Playing a history on a host, and what one may look at then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.engine.properties.steps import Step

from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, RUNS, Host


class History:
    """Plays steps on a host, skipping those that make no sense at the moment."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.made = 0

    def play(self, step: Step) -> None:
        name, *arguments = step
        getattr(self, name)(*arguments)

    def run_exists(self, name: str, *phases: str) -> bool:
        exists = self.host.server.exists(RUNS, NAMESPACE, name)
        return exists and (not phases or self.host.status(name)["phase"] in phases)

    def create(self, name: str, fields: dict[str, Any]) -> None:
        if not self.run_exists(name):
            self.made += 1
            self.host.run(name, uid=f"{name}-{self.made}", **fields)

    def end(self, name: str) -> None:
        if self.run_exists(name, "Scheduled", "Running"):
            self.host.end(name)

    def delete(self, name: str) -> None:
        if self.run_exists(name):
            self.host.delete(name)

    def label(self, name: str, app: str) -> None:
        if self.run_exists(name):
            self.host.change(name, metadata={"labels": {"app": app}})

    def cancel(self, name: str) -> None:
        if self.run_exists(name):
            self.host.change(name, spec={"cancelRequested": True})

    def requeue(self, name: str) -> None:
        if self.run_exists(name, "Scheduled", "Running"):
            attempt = self.host.status(name).get("attempt", 1) + 1
            stopped = condition_object("Running", False, since=self.host.now.wall)
            self.host.change(
                name,
                status={
                    "phase": "Pending",
                    "assignedPod": None,
                    "assignedPodUID": None,
                    "attempt": attempt,
                    "conditions": [stopped],
                },
            )

    def pod(self, name: str, runs: int) -> None:
        self.made += 1
        runtime = name.split("-")[0]
        self.host.pod(name, uid=f"{name}-{self.made}", runtime=runtime, runs=runs, capacity={"gpu": "1"})

    def grow(self, name: str, runs: int) -> None:
        """More room only: the API server lets an owner take room away that is in use."""
        if self.host.server.exists(PODS, NAMESPACE, name):
            annotations = {"kruntimes.io/capacity.runs": str(runs)}
            self.host.server.change(PODS, NAMESPACE, name, {"metadata": {"annotations": annotations}})

    def ready(self, name: str, ready: bool) -> None:
        if self.host.server.exists(PODS, NAMESPACE, name):
            self.host.ready(name, ready)

    def workspace(self, phase: str, pod: str) -> None:
        self.host.workspace("ws", phase=phase, bound_pod=pod)

    def advance(self, seconds: float) -> None:
        self.host.advance(seconds)


def placements(host: Host) -> dict[str, tuple[str, str | None]]:
    """Run name to phase and Pod, by the server's truth."""
    found = {}
    for run in host.server.all(RUNS):
        status = run["status"]
        found[run["metadata"]["name"]] = (status["phase"], status.get("assignedPod"))
    return found


def pictures(host: Host) -> Iterator[Snapshot]:
    for runtime in ("py", "js"):
        yield host.engine.cache.snapshot(NAMESPACE, runtime, host.now.wall)
