"""Usage and targets by Run and Pod UID, whether or not that Pod is known.

A claim is what one Run holds: as observed when it is active, else as assumed. There is never more
than one for a Run, which is what makes the handoff from assumed to actual usage exact.
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
class Claim:
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
class Load:
    """The sum of the claims on one place."""

    usage: FrozenMap[str, int] = field(default_factory=FrozenMap)
    targets: Targets = field(default_factory=Targets)

    def changed_by(self, claim: Claim, sign: int) -> Load:
        """The load with a claim more (`sign` 1) or less (-1)."""
        usage = dict(self.usage.items())
        for resource, amount in claim.request.items():
            total = usage.get(resource, 0) + sign * amount
            if total:
                usage[resource] = total
            else:
                usage.pop(resource, None)
        return Load(FrozenMap(usage), self.targets.changed_by(claim.labels, sign))

    def __add__(self, other: Load) -> Load:
        usage = dict(self.usage.items())
        for resource, amount in other.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
        targets = self.targets
        for labels, number in other.targets.items():
            targets = targets.changed_by(labels, number)
        return Load(FrozenMap(usage), targets)


class Claims:
    """All claims, and the load that they make on each place."""

    def __init__(self) -> None:
        self._claims: dict[RunKey, Claim] = {}
        self._loads: dict[Place, Load] = {}
        self._nothing = Load()

    def replace(self, run: RunKey, claim: Claim | None) -> list[tuple[Claim, int]]:
        """Set what a Run holds. Returns the changes: claims with -1 (ended) and 1 (begun)."""
        before = self._claims.get(run)
        if before == claim:
            return []
        if claim is None:
            self._claims.pop(run, None)
        else:
            self._claims[run] = claim
        changes = [(it, sign) for it, sign in ((before, -1), (claim, 1)) if it is not None]
        for changed, sign in changes:
            self._change(changed, sign)
        return changes

    def load(self, namespace: str, name: str, uid: str) -> Load:
        """What the Pod of that name and UID carries."""
        by_uid = self._loads.get((namespace, "uid", uid), self._nothing)
        by_name = self._loads.get((namespace, "name", name))
        return by_uid if by_name is None else by_uid + by_name

    def __len__(self) -> int:
        return len(self._claims)

    def _change(self, claim: Claim, sign: int) -> None:
        load = self._loads.get(claim.place, self._nothing).changed_by(claim, sign)
        if load.usage or load.targets:
            self._loads[claim.place] = load
        else:
            self._loads.pop(claim.place, None)
