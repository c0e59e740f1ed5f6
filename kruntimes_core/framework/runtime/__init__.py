"""Running a profile's plugins on a snapshot: prefilter, filter, score, normalize, choose.

Pure: nothing here knows of queues, binds or clocks. What makes it fast is the result cache, whose one rule is
that an answer holds until an argument that it was given from changes.
"""

from kruntimes_core.framework.runtime.plan_results import (
    PlanOutcome,
    PlanResult,
    PluginFailure,
    ScheduleResult,
    Unschedulable,
    Verdict,
)
from kruntimes_core.framework.runtime.prefilter import InvalidRunResult, PreFilterState
from kruntimes_core.framework.runtime.runner import Runner
from kruntimes_core.framework.runtime.score import PodScores
from kruntimes_core.framework.runtime.waiting_message import (
    BASE_COMPLETION,
    WaitingMessage,
    waiting_text,
)

__all__ = [
    "BASE_COMPLETION",
    "InvalidRunResult",
    "PlanOutcome",
    "PlanResult",
    "PluginFailure",
    "PodScores",
    "PreFilterState",
    "Runner",
    "ScheduleResult",
    "Unschedulable",
    "Verdict",
    "WaitingMessage",
    "waiting_text",
]
