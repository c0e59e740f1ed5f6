"""The names that a plugin may rely on. `kruntimes_core` hands them out; there is no other list of them."""

from kruntimes_core.framework.hookspecs import InvalidRun, Reject, hookimpl
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity, RuntimePod, Unavailability
from kruntimes_core.model.quantity import Ratio
from kruntimes_core.model.run import Request, Run
from kruntimes_core.model.selectors import (
    Affinity,
    AffinityTerm,
    LabelSelector,
    LabelSet,
    Operator,
    Requirement,
    WeightedTerm,
)
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace, WorkspacePhase

__all__ = [
    "Affinity",
    "AffinityTerm",
    "Capacity",
    "FrozenMap",
    "InvalidRun",
    "LabelSelector",
    "LabelSet",
    "Operator",
    "Pods",
    "Ratio",
    "Reject",
    "Request",
    "Requirement",
    "Run",
    "RuntimePod",
    "Snapshot",
    "Targets",
    "Unavailability",
    "WeightedTerm",
    "Workspace",
    "WorkspacePhase",
    "hookimpl",
]
