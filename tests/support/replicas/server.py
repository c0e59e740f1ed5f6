"""One server for all replicas: Runs and Pods of the harness, Leases of the embedded API server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

from memoryapi.server import MemoryApi

from kruntimes_core.cluster.client.resources import LEASE
from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE
from kruntimes_core.lab.apiserver.requests import Patch
from kruntimes_core.lab.apiserver.server import ApiServer as EmbeddedServer
from simulation.direct import DirectTransport

NAMESPACE = "kube-system"
Spec = dict[str, Any]


class Leases:
    """The Lease, as others than a replica see it and write it."""

    def __init__(self, clock: Clock) -> None:
        numbers = count(1)
        self.server = EmbeddedServer(now=lambda: clock.now().wall, uid=lambda: f"uid-{next(numbers)}")
        self.resource = self.server.resources.named("leases")

    @property
    def spec(self) -> Spec:
        """The record as it stands."""
        spec: Spec = self.server.get(self.resource, NAMESPACE, LEASE)["spec"]
        return spec

    @property
    def holder(self) -> str:
        """Who holds it; empty for nobody."""
        return str(self.spec.get("holderIdentity", ""))

    def write(self, **spec: Any) -> None:
        """Create the Lease, or merge something into its record, as somebody else."""
        body = {"metadata": {"name": LEASE}, "spec": spec}
        if any(obj["metadata"]["name"] == LEASE for obj in self.server.list(self.resource)):
            self.server.patch(self.resource, NAMESPACE, LEASE, Patch(MERGE, {"spec": spec}))
        else:
            self.server.create(self.resource, NAMESPACE, body)

    def delete(self) -> None:
        """Delete it."""
        self.server.delete(self.resource, NAMESPACE, LEASE)


class Server:
    """A `Transport` that ends where the object is kept."""

    def __init__(self, runs: MemoryApi, leases: Leases) -> None:
        self._runs = runs
        self._leases = DirectTransport(leases.server)

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        where = self._leases if "/leases" in call.path else self._runs
        return await where.request(call)

    def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        return self._runs.stream(call)

    async def close(self) -> None:
        """See `Transport`."""
