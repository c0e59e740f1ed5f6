"""Simulated Runtimes on an API server in virtual time, with or without a scheduler."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import Any

from virtual.site import virtual_scheduler
from virtual.time import VirtualClock, run_virtual
from virtual.transport import FaultyTransport

from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE
from kruntimes_core.lab.apiserver.requests import Patch
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.dev import workload
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.simulated_runtimes import SimulatedRuntimes

Object = dict[str, Any]
NAMESPACE = workload.NAMESPACE
TASK_SECONDS = 10.0


class Site:
    """An API server whose Runtimes are simulated."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        numbers = count(1)
        self.clock = VirtualClock()
        self.api = ApiServer(
            now=lambda: self.clock.now().wall, uid=lambda: f"uid-{next(numbers)}", controllers=True
        )
        self.transport = FaultyTransport(self.api)
        self.lines = io.StringIO()
        self.log = Log(self.lines, self.clock, Level.WARNING)
        self.runtimes = SimulatedRuntimes(
            behaviour=behaviour or Behaviour(run=(TASK_SECONDS, TASK_SECONDS)),
            transport=self.transport,
            clock=self.clock,
            random=Random(7),
            log=self.log,
        )

    def host(self, profiles: Profiles) -> Scheduler:
        """A scheduler for it."""
        transport = FaultyTransport(self.api)
        return virtual_scheduler(transport=transport, clock=self.clock, log=self.log, profiles=profiles)

    # Objects

    def create(self, plural: str, body: Object) -> Object:
        """Create an object."""
        return self.api.create(self.api.resources.named(plural), NAMESPACE, body).object

    def runtime(self, name: str = "py", replicas: int = 1, **capacity: str) -> None:
        """Create a Runtime, and let its Pods come up."""
        self.create("runtimes", workload.runtime(name, replicas, capacity or {"runs": "4"}))

    def run(self, name: str, of_runtime: str = "py", **spec: Any) -> None:
        """Create a Run."""
        self.create("runs", workload.run(name, of_runtime, **spec))

    def bind(self, name: str, pod: str) -> None:
        """Place a Run, as a scheduler does."""
        uid = self.get("pods", pod)["metadata"]["uid"]
        self.change(
            "runs", name, "status", status={"phase": "Scheduled", "assignedPod": pod, "assignedPodUID": uid}
        )

    def change(self, plural: str, name: str, subresource: str = "", **body: Any) -> None:
        """Merge something into an object."""
        resource = self.api.resources.named(plural)
        self.api.patch(resource, NAMESPACE, name, Patch(MERGE, body), subresource)

    def delete(self, plural: str, name: str) -> None:
        """Delete an object."""
        self.api.delete(self.api.resources.named(plural), NAMESPACE, name)

    def get(self, plural: str, name: str) -> Object:
        """An object as it stands."""
        return self.api.get(self.api.resources.named(plural), NAMESPACE, name)

    def names(self, plural: str) -> list[str]:
        """The names of all objects of a kind."""
        return [obj["metadata"]["name"] for obj in self.api.list(self.api.resources.named(plural))]

    def status(self, name: str) -> Object:
        """The status of a Run."""
        status: Object = self.get("runs", name)["status"]
        return status

    def conditions(self, plural: str, name: str) -> dict[str, Object]:
        """The conditions of an object by type."""
        return {one["type"]: one for one in self.get(plural, name)["status"]["conditions"]}

    # Time

    @asynccontextmanager
    async def alive(self, *others: Coroutine[Any, Any, None]) -> Any:
        """While it is entered, Pods live and Runs are executed."""
        tasks = [asyncio.create_task(one) for one in (self.runtimes.run(), *others)]
        try:
            yield self
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def passes(seconds: float) -> None:
    """Let virtual time pass."""
    await asyncio.sleep(seconds)


def play(scene: Callable[[Site], Coroutine[Any, Any, None]], behaviour: Behaviour | None = None) -> Site:
    """Play a scene on a site of its own; gives the site as it was at the end."""

    async def main() -> Site:
        site = Site(behaviour)
        async with site.alive():
            await scene(site)
        return site

    return run_virtual(main())


def phases(site: Site) -> Iterator[str]:
    """The phases of all Runs."""
    for name in site.names("runs"):
        yield site.status(name)["phase"]
