"""What a watch of the simulation tells: each change knows how the machine is told of it."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.client.resources import ApiResource
from kruntimes_core.engine.clock import Now
from kruntimes_core.lab.runtimes.objects import Object
from kruntimes_core.lab.runtimes.simulation import RuntimeSimulation


@dataclass(frozen=True, slots=True)
class Changed:
    """An object was added or modified."""

    resource: ApiResource
    object: Object

    def tell(self, machine: RuntimeSimulation, now: Now) -> None:
        """Tell the machine."""
        machine.observe(self.resource, self.object, now)


@dataclass(frozen=True, slots=True)
class Gone:
    """An object was deleted."""

    resource: ApiResource
    namespace: str
    name: str

    def tell(self, machine: RuntimeSimulation, now: Now) -> None:
        """Tell the machine."""
        machine.gone(self.resource, self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of a resource."""

    resource: ApiResource
    objects: tuple[Object, ...]

    def tell(self, machine: RuntimeSimulation, now: Now) -> None:
        """Tell the machine."""
        machine.listed(self.resource, self.objects, now)


Change = Changed | Gone | Listed
