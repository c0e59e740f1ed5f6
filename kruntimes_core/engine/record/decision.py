"""What was decided for one Run, and what it was decided from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runner.table import Verdict
from kruntimes_core.model.pod import Capacity, RuntimePod
from kruntimes_core.model.run import Request, Run
from kruntimes_core.model.snapshot import Pods, Snapshot


class Outcome(StrEnum):
    """`outcome` of a plan document."""

    SCHEDULED = "Scheduled"
    WAITING = "Waiting"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    BACKOFF = "Backoff"
    IGNORED = "Ignored"


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A reservation that was refused: by the host (plugin None) or by a plugin's `reserve`."""

    plugin: str | None
    reject: Reject


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision. The snapshot is a reference: what it says is what was decided from."""

    run: Run
    outcome: Outcome
    reason: str
    message: str = ""
    """What `status.message` says after it."""
    pod: RuntimePod | None = None
    until: datetime | None = None
    profile: Profile | None = None
    snapshot: Snapshot | None = None
    turned_down: Mapping[str, TurnedDown] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] | None = None
    """Where a plugin is stateful: its answers, which cannot be had again."""
    error: PluginError | None = None

    @property
    def never(self) -> bool:
        """Whether the Runtime has Pods, and the request fits none of them even when idle."""
        if self.outcome is not Outcome.WAITING or self.snapshot is None:
            return False
        return never_fits(self.run.request, self.snapshot.pods)


def never_fits(request: Request, pods: Pods) -> bool:
    """Whether there are Pods, ready or not, and none advertises room for `request`."""
    capacities: set[Capacity] = {pod.capacity for pod in pods.values()}
    return bool(capacities) and not any(_holds(capacity, request) for capacity in capacities)


def _holds(capacity: Capacity, request: Request) -> bool:
    return all(amount <= capacity.get(resource, 0) for resource, amount in request.items())
