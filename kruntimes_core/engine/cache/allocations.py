"""Usage and targets by Run and Pod UID, whether or not that Pod is known.

An allocation is what one Run holds: as observed when it is active, else as assumed. There is never
more than one for a Run, which is what makes the handoff from assumed to actual usage exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.run import Request
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets

RunKey = tuple[str, str]
"""(namespace, Run UID)."""
Place = tuple[str, str, str]
"""(namespace, "uid" or "name", Pod UID or Pod name)."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The room that one Run holds on one Pod, and the labels by which it is a target."""

    namespace: str
    pod_name: str
    pod_uid: str | None
    request: Request
    labels: LabelSet

    @property
    def place(self) -> Place:
        """Where it counts: by Pod UID; by name where the Run names no UID."""
        if self.pod_uid is not None:
            return (self.namespace, "uid", self.pod_uid)
        return (self.namespace, "name", self.pod_name)


@dataclass(slots=True)
class PodAllocations:
    """The sum of the allocations on one Pod."""

    usage: FrozenMap[str, int] = field(default_factory=FrozenMap)
    targets: Targets = field(default_factory=Targets)

    def changed_by(self, allocation: Allocation, sign: int) -> PodAllocations:
        """The sum with an allocation more (`sign` 1) or less (-1)."""
        usage = dict(self.usage.items())
        for resource, amount in allocation.request.items():
            total = usage.get(resource, 0) + sign * amount
            if total:
                usage[resource] = total
            else:
                usage.pop(resource, None)
        return PodAllocations(FrozenMap(usage), self.targets.changed_by(allocation.labels, sign))

    def __add__(self, other: PodAllocations) -> PodAllocations:
        usage = dict(self.usage.items())
        for resource, amount in other.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
        targets = self.targets
        for labels, number in other.targets.items():
            targets = targets.changed_by(labels, number)
        return PodAllocations(FrozenMap(usage), targets)


class Allocations:
    """All allocations, and their sum on each Pod."""

    def __init__(self) -> None:
        self._by_run: dict[RunKey, Allocation] = {}
        self._sums: dict[Place, PodAllocations] = {}
        self._none = PodAllocations()

    def replace(self, run: RunKey, allocation: Allocation | None) -> list[tuple[Allocation, int]]:
        """Set what a Run holds. Returns the changes: allocations with -1 (ended) and 1 (begun)."""
        before = self._by_run.get(run)
        if before == allocation:
            return []
        if allocation is None:
            self._by_run.pop(run, None)
        else:
            self._by_run[run] = allocation
        changes = [(it, sign) for it, sign in ((before, -1), (allocation, 1)) if it is not None]
        for changed, sign in changes:
            self._change(changed, sign)
        return changes

    def on_pod(self, namespace: str, name: str, uid: str) -> PodAllocations:
        """What the Pod of that name and UID carries."""
        by_uid = self._sums.get((namespace, "uid", uid), self._none)
        by_name = self._sums.get((namespace, "name", name))
        return by_uid if by_name is None else by_uid + by_name

    def __len__(self) -> int:
        return len(self._by_run)

    def _change(self, allocation: Allocation, sign: int) -> None:
        total = self._sums.get(allocation.place, self._none).changed_by(allocation, sign)
        if total.usage or total.targets:
            self._sums[allocation.place] = total
        else:
            self._sums.pop(allocation.place, None)
