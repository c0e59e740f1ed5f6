"""Asking a profile's plugins for the best Pod, and once more about the one that was chosen."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from kruntimes_core.engine.cycle.work.base import Runners, RunWork
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, ScheduleResult
from kruntimes_core.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWork(RunWork):
    """Plan a Run on a snapshot."""

    snapshot: Snapshot
    version: int
    """Of the namespace at the take."""
    excluded: Set[str] = frozenset()

    def execute(self, runners: Runners) -> PlanOutcome:
        """What came of it."""
        try:
            return runners.of(self.profile).plan(self.run, self.snapshot, self.excluded)
        except PluginError as error:
            return PluginFailure(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWork(RunWork):
    """Ask prefilter and filter again for the chosen Pod: something changed since the take."""

    snapshot: Snapshot
    version: int
    pod_name: str

    def execute(self, runners: Runners) -> ScheduleResult | PluginFailure | None:
        """The Pod as it is now, or None if it does not pass any more."""
        try:
            return runners.of(self.profile).check(self.run, self.snapshot, self.pod_name)
        except PluginError as error:
            return PluginFailure(error)
