"""What a test may ask of a host: what was done, sent and written, and what the engine knows."""

from __future__ import annotations

from collections import Counter

from kruntimes_core.engine.api_calls import Read, Request, Write
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.snapshot import Pods
from kruntimes_core.testing.builders import NAMESPACE, RUNTIME
from kruntimes_core.testing.harness.cluster import SimulatedCluster
from kruntimes_core.testing.harness.object_tracker import ObjectTracker


class Traces(SimulatedCluster):
    """The traces that a host leaves."""

    engine: Engine

    def __init__(self, server: ObjectTracker) -> None:
        super().__init__(server)
        self.requests: list[Request] = []
        """All that was handed to the transport."""
        self.works: Counter[str] = Counter()
        """How often each kind of work was done."""

    @property
    def cycles(self) -> int:
        """How many plans were made so far."""
        return self.works["PlanWork"]

    def writes(self, name: str) -> list[Write]:
        """The writes for the Runs of a name that were handed to the transport."""
        return [one for one in self.requests if isinstance(one, Write) and one.name == name]

    def texts(self, name: str) -> list[str]:
        """The waiting texts that were written for a Run, in order."""
        return [
            write.body["status"]["message"]
            for write in self.server.accepted
            if write.name == name and write.body["status"]["phase"] == "Pending"
        ]

    def reads(self, name: str) -> int:
        """How many reads of the Runs of a name were handed to the transport."""
        return sum(1 for one in self.requests if isinstance(one, Read) and one.name == name)

    def pods(self, namespace: str = NAMESPACE, runtime: str = RUNTIME) -> Pods:
        """The Pods of a Runtime as the engine knows them, with what they carry."""
        return self.engine.cache.snapshot(namespace, runtime, self._wall).pods

    def usage(self, name: str = "py-0") -> dict[str, int]:
        """What a Pod carries by the engine's account."""
        return dict(self.pods()[name].usage)

    @property
    def wakeups(self) -> dict[WakeupSource, int]:
        """How many wakeups were counted, by source."""
        return {source: number for source, number in self.engine.counters.wakeups.items() if number}
