"""What a plan comes to. Rejected, invalid and failed are three different things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.framework.runtime.prefilter import InvalidRunResult, PreFilterState
from kruntimes_core.framework.runtime.waiting_message import WaitingMessage
from kruntimes_core.model.pod import RuntimePod

Verdict = tuple[int, Reject] | None
"""A Pod's first rejection with the place of its filter; None for a Pod that all let pass."""


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
    retry_by: str | None = None
    """The plugin that named this time."""


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A plugin failed: nothing is assumed, nothing is written, the Run is tried again later."""

    error: PluginError


PlanOutcome = ScheduleResult | Unschedulable | InvalidRunResult | PluginFailure
