"""Running a profile's plugins on a snapshot: prefilter, filter, score, normalize, choose.

Pure: nothing here knows of queues, binds or clocks. What makes it fast is one rule, that an answer
holds until an argument that it was given from changes; every file here keeps one kind of answer.
"""

from kruntimes_core.framework.runtime.outcomes import (
    Broken,
    Chosen,
    Headline,
    Invalid,
    Planned,
    PlanOutcome,
    Prepared,
    Unschedulable,
)
from kruntimes_core.framework.runtime.runner import Runner

__all__ = [
    "Broken",
    "Chosen",
    "Headline",
    "Invalid",
    "PlanOutcome",
    "Planned",
    "Prepared",
    "Runner",
    "Unschedulable",
]
