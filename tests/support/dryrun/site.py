"""A dry run in virtual time; the running scheduler is scripted. No scene may end with a write of the host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from memoryapi.site import Site
from memoryapi.site import play as play_site

from kruntimes_core.cluster.client.transport import ReadOnlyTransport
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer, DryRunSettings
from kruntimes_core.cluster.dry_run.report import Difference, DryRunReport
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS
from kruntimes_core.testing.objects import time_text

PATIENCE_SECONDS = 30.0
TWO_PODS: Mapping[str, int] = MappingProxyType({"py-0": 4, "py-1": 4})
"""Two Pods with room for four Runs each."""
NO_PODS: Mapping[str, int] = MappingProxyType({})
NOTHING_PLACED: Mapping[str, str] = MappingProxyType({})


class Beside:
    """What the running scheduler does, and what the dry run makes of it."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def starts_with(
        self,
        *runs: str,
        pods: Mapping[str, int] = NO_PODS,
        placed: Mapping[str, str] = NOTHING_PLACED,
        seconds: float = 1.0,
        **fields: Any,
    ) -> None:
        """What is there when the dry run starts, and some time for it to decide.

        runs: those that wait, in order. pods: how many Runs each takes. placed: Runs with their Pods.
        fields: of all that wait, as of `run_object`.
        """
        for name, room in pods.items():
            self.site.pod(name, runs=room)
        for name, pod in placed.items():
            self.site.run(name, pod=pod)
        for name in runs:
            self.site.run(name, **fields)
        self.site.start()
        await self.site.passes(seconds)

    @property
    def comparer(self) -> DryRunComparer:
        """The dry run's."""
        found = self.site.host.comparer
        assert found is not None
        return found

    @property
    def report(self) -> DryRunReport:
        """What it has come to."""
        return self.comparer.report

    @property
    def differences(self) -> list[Difference]:
        """All of them, the latest last."""
        return list(self.report.latest)

    @property
    def skipped(self) -> Mapping[str, int]:
        """What was not compared, by why."""
        return {why.value: number for why, number in self.report.not_compared.items() if number}

    def counts(self) -> tuple[int, int, Mapping[str, int]]:
        """How many agreed, how many differ, and what was not compared."""
        return self.report.agreed, self.report.differed, self.skipped

    def binds(self, name: str, pod: str, namespace: str = NAMESPACE) -> None:
        """It places a Run."""
        uid = self.site.server.get(PODS, namespace, pod)["metadata"]["uid"]
        placed = {"phase": "Scheduled", "assignedPod": pod, "assignedPodUID": uid, "message": ""}
        self.site.change(name, namespace, status=placed)

    def lets_wait(self, name: str, text: str = "waiting for room") -> None:
        """It says why a Run waits."""
        self.site.change(name, status={"phase": "Pending", "message": text})

    def ends(self, name: str, phase: str, message: str = "it cannot be placed") -> None:
        """It fails or cancels a Run."""
        completed = {"completionTime": time_text(self.site.clock.now().wall), "message": message}
        self.site.change(name, status={"phase": phase, **completed})

    async def sees(self, only: str = "") -> Difference:
        """The one difference that there is, after a moment. only: the one of this Run."""
        await self.site.passes(1)
        (found,) = (one for one in self.differences if only in ("", one.run.name))
        return found


Scene = Callable[[Site, Beside], Awaitable[None]]


def play(profiles: Profiles, scene: Scene, **host: Any) -> None:
    """Play a scene, and check that the server was asked for reads alone. host: arguments of `Scheduler`."""
    asked: list[tuple[str, bytes | None]] = []
    hosts: list[Scheduler] = []

    async def whole(site: Site) -> None:
        try:
            await scene(site, Beside(site))
        finally:
            await site.end_host()
            asked.extend((call.method, call.body) for _, _, call in site.api.calls)
            hosts.append(site.host)

    play_site(profiles, whole, **{"dry_run": DryRunSettings(patience_seconds=PATIENCE_SECONDS)} | host)
    assert {method for method, _ in asked} <= {"GET"}
    assert {body for _, body in asked} <= {None}
    if hosts[0].comparer is not None:
        assert _gate(hosts[0]).refused == 0


def _gate(host: Scheduler) -> ReadOnlyTransport:
    """What lets the host read and not write. Nothing in it should even have tried."""
    heard: Any = host.transport
    gate = heard._transport
    assert isinstance(gate, ReadOnlyTransport)
    return gate
