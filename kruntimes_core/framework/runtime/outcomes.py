"""What a plan comes to. Rejected, invalid and broken are three different things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.runtime.reads import Reads
from kruntimes_core.framework.runtime.sharing import StateKey
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace

# The reason of a Run whose Runtime has no Pods at all: no plugin was there to give one.
NO_RUNTIME_PODS = "NoRuntimePods"

Verdict = tuple[int, Reject] | None
"""A Pod's first rejection with the place of its filter; None for a Pod that all let pass."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A Run after prefilter: each plugin's state, and what the states were made from."""

    states: tuple[Any, ...]
    """One for each plugin of the profile, in order; None without a prefilter."""
    keys: tuple[StateKey | None, ...]
    """Equal keys, equal states (see `sharing`)."""
    together: StateKey
    """All of the keys as one."""
    class_key: StateKey
    """Equal for Runs of one Runtime that every filter answers alike."""
    reads: Reads = field(compare=False)
    workspace: Workspace | None = None
    noted: tuple[Reads, ...] = field(default=(), compare=False, repr=False)
    """What each prefilter has read so far; a state may hold `targets` and ask on, in a filter."""

    def holds(self, targets: Targets) -> bool:
        """Whether the prefilters would read in these targets what they read before."""
        # A loop: it is asked for each class of waiting Runs and each change.
        for reads in self.noted:  # noqa: SIM110
            if not reads.hold(targets):
                return False
        return True

    def gather(self) -> None:
        """Bring `reads` up to date: the plan is complete, and nothing is read any more."""
        for reads in self.noted:
            self.reads.merge(reads)


@dataclass(frozen=True, slots=True)
class Headline:
    """The rejection that a waiting Run shows: that of the Pods that got furthest."""

    reason: str
    text: str
    plugin: str | None = None
    place: int = -1
    """How far in the order of filters the Pods got; -1 when there are no Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The common part of what comes of planning one Run on one snapshot."""

    prepared: Prepared
    rejections: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(plugin, reason) -> how many Pods it rejected; reused verdicts count like new ones."""
    verdicts: Mapping[str, Verdict] | None = None
    """Each Pod's rejection with the place of its plugin; kept only where a plugin is stateful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(Planned):
    """The best feasible Pod."""

    pod: RuntimePod


@dataclass(frozen=True, slots=True, kw_only=True)
class Unschedulable(Planned):
    """No feasible Pod: the Run waits."""

    headline: Headline
    retry_at: datetime | None = None
    """The earliest time at which a rejection may turn, besides any change."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A plugin said that the Run can never be scheduled."""

    plugin: str
    reason: str
    message: str
    reads: Reads = field(default_factory=Reads, compare=False)
    workspace: Workspace | None = None
    """What it was told: the verdict is final only if that is still so."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""

    error: PluginError


PlanOutcome = Chosen | Unschedulable | Invalid | Broken
