"""What a plan comes to. Rejected, invalid and failed are three different things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.runtime.prefilter import InvalidRunResult, PreFilterState
from kruntimes_core.model.pod import RuntimePod

# The reason of a Run whose Runtime has no Pods at all: no plugin was there to give one.
NO_RUNTIME_PODS = "NoRuntimePods"

Verdict = tuple[int, Reject] | None
"""A Pod's first rejection with the place of its filter; None for a Pod that all let pass."""


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """Why a waiting Run waits: the rejection of the Pods that got furthest."""

    reason: str
    text: str
    plugin: str | None = None
    place: int = -1
    """How far in the order of filters the Pods got; -1 when there are no Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult:
    """The common part of what comes of planning one Run on one snapshot."""

    prefilter_state: PreFilterState
    rejections: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(plugin, reason) -> how many Pods it rejected; answers of the cache count like new ones."""
    verdicts: Mapping[str, Verdict] | None = None
    """Each Pod's rejection with the place of its plugin; kept only where a plugin is stateful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleResult(PlanResult):
    """The best feasible Pod."""

    pod: RuntimePod


@dataclass(frozen=True, slots=True, kw_only=True)
class Unschedulable(PlanResult):
    """No feasible Pod: the Run waits."""

    waiting_message: WaitingMessage
    retry_at: datetime | None = None
    """The earliest time at which a rejection may turn, besides any change."""


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""

    error: PluginError


PlanOutcome = ScheduleResult | Unschedulable | InvalidRunResult | PluginFailure
