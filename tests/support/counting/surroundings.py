"""The Pods and Runs that a host is told of directly, so that ten thousand are there at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kruntimes_core.engine import events
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.testing import make_pod, make_run
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host


class Surroundings:
    """One host, and the newest version of each object that it was told of."""

    def __init__(self, profiles: Profiles) -> None:
        self.host = Host(profiles)
        self.runs: dict[tuple[str, str], RunObservation] = {}
        self.pods: dict[tuple[str, str], PodObservation] = {}
        self._version = 1_000_000

    def make_pods(self, number: int, runs: int = 2, prefix: str = "py", **fields: Any) -> None:
        """See that many Pods, with room for `runs` each. fields: of `make_pod`."""
        for index in range(number):
            self.see_pod(f"{prefix}-{index:04}", runs, **fields)

    def see_pod(self, name: str, runs: int = 2, **fields: Any) -> None:
        """See a Pod that is new or changed, alive now."""
        capacity = {"runs": runs, **fields.pop("capacity", {})}
        pod = make_pod(name, capacity=capacity, **fields)
        seen = PodObservation(pod=pod, version=self._next(), probed_at=self.host.now.wall)
        self.pods[pod.namespace, name] = seen
        self.host.tell(events.PodObserved(seen))

    def make_runs(self, number: int, prefix: str, **fields: Any) -> None:
        """List that many more Runs, beside all that are known. fields: of `observation`."""
        for index in range(number):
            self.observation(f"{prefix}-{index:05}", **fields)
        self.list_runs()

    def see_run(self, name: str, **fields: Any) -> None:
        """See a Run that is new or changed. fields: of `observation`."""
        self.host.tell(events.RunObserved(self.observation(name, **fields)))

    def observation(
        self,
        name: str,
        pod: str | None = None,
        phase: Phase | None = None,
        message: str = "",
        **fields: Any,
    ) -> RunObservation:
        """A newer version of a Run: Pending, or Running on `pod`. fields: of `make_run`."""
        run = make_run(name, **fields)
        seen = RunObservation(
            run=run,
            version=self._next(),
            phase=phase or (Phase.PENDING if pod is None else Phase.RUNNING),
            assigned_pod=pod,
            assigned_pod_uid=None if pod is None else f"uid-{pod}",
            message=message,
            held=run.request,
        )
        self.runs[run.namespace, name] = seen
        return seen

    def end(self, name: str, namespace: str = NAMESPACE) -> None:
        """See that a Run has succeeded."""
        seen = replace(self.runs[namespace, name], phase=Phase.SUCCEEDED, version=self._next())
        self.runs[namespace, name] = seen
        self.host.tell(events.RunObserved(seen))

    def forget(self, name: str, namespace: str = NAMESPACE) -> None:
        """See that a Run was deleted."""
        gone = self.runs.pop((namespace, name)).run
        self.host.tell(events.RunGone(namespace=namespace, name=name, uid=gone.uid, version=self._next()))

    def list_runs(self) -> None:
        """List all Runs, as after a reconnect."""
        self.host.tell(events.RunsListed(observations=tuple(self.runs.values()), version=self._next()))

    def list_pods(self) -> None:
        """List all Pods."""
        self.host.tell(events.PodsListed(observations=tuple(self.pods.values()), version=self._next()))

    def beat(self) -> None:
        """See a heartbeat of every Pod."""
        for key, seen in list(self.pods.items()):
            self.pods[key] = replace(seen, version=self._next(), probed_at=self.host.now.wall)
            self.host.tell(events.PodObserved(self.pods[key]))

    def _next(self) -> str:
        self._version += 1
        return str(self._version)
