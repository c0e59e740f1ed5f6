"""A tentative assignment, as later cycles see it before its bind is confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import PreFilterState, Verdict
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run


@dataclass(slots=True, eq=False)
class Assumption:
    """One tentative assignment."""

    run: Run
    pod: RuntimePod
    """The chosen Pod as it was when the Run was reserved on it."""
    alone: RuntimePod
    """The Pod without what it carries: a bind that waits is dropped if this changes."""
    profile: Profile
    prepared: PreFilterState
    verdicts: Mapping[str, Verdict] | None = None
    """For the record, where a plugin is stateful."""
    asked: list[ActivePlugin] = field(default_factory=list)
    """The plugins whose `reserve` was asked, in order."""
    guard: str = ""
    """The version that the bind was sent with; empty until then."""
    bound_version: str = ""
    """The version of the bind's answer; empty until it is applied."""
    doubtful: bool = False
    """The bind may have been applied: nothing but evidence ends it."""
    repeats: int = 0
