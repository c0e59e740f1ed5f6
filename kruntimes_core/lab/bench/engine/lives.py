"""One Run of a measured cluster, from its creation to its deletion, as events of a watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kruntimes_core.engine.api_calls import Write
from kruntimes_core.engine.events import RunGone, RunObserved
from kruntimes_core.lab.bench.engine.objects import Object, Pool, on_pod
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation


class Life:
    """A Run as the API server has it. Each event is a newer version, decoded anew like the host's."""

    def __init__(self, pool: Pool, obj: Object, decoder: Decoder, next_version: Callable[[], str]) -> None:
        self.pool = pool
        self.name: str = obj["metadata"]["name"]
        self.pod: str | None = obj["status"].get("assignedPod")
        """The Pod that it was bound to."""
        self._object = obj
        self._decoder = decoder
        self._next_version = next_version

    def observation(self) -> RunObservation:
        """The Run as it is."""
        return self._decoder.run(self._object)

    def seen(self) -> RunObserved:
        """The event that shows the Run as it is."""
        return RunObserved(self.observation())

    def patched(self, write: Write, version: str) -> None:
        """A patch of its status was applied."""
        self._become({**self._object["status"], **write.body["status"]}, version)
        self.pod = self._object["status"].get("assignedPod")

    def ended(self) -> RunObserved:
        """The event of its success; it had been bound."""
        self._become(on_pod(self.pod or "", "Succeeded"), self._next_version())
        return self.seen()

    def gone(self) -> RunGone:
        """The event of its deletion."""
        metadata = self._object["metadata"]
        return RunGone(
            namespace=self.pool.namespace,
            name=self.name,
            uid=metadata["uid"],
            version=self._next_version(),
        )

    def _become(self, status: Mapping[str, Any], version: str) -> None:
        metadata = {**self._object["metadata"], "resourceVersion": version}
        self._object = {**self._object, "metadata": metadata, "status": dict(status)}
