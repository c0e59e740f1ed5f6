"""Commit: check that what a plan was made from is still so; then reserve, or let the Run wait or end."""

from __future__ import annotations

from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.reserving import Reserving
from kruntimes_core.engine.cycle.steps import Steps
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import CheckWork, PlanWork
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PlanOutcome,
    PluginFailure,
    PreFilterState,
    ScheduleResult,
    Unschedulable,
)
from kruntimes_core.model.run import Phase, Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.workspace import WorkspacePhase


class Commit:
    """What follows on a plan."""

    def __init__(self, core: Core, steps: Steps, reserving: Reserving, verdicts: Verdicts) -> None:
        self._core = core
        self._steps = steps
        self._reserving = reserving
        self._verdicts = verdicts

    def planned(self, work: PlanWork, outcome: PlanOutcome) -> None:
        """A plan came back, and the Run is still the same."""
        if isinstance(outcome, PluginFailure):
            self._steps.broken(work, outcome.error)
        elif not self.holds(
            work.run,
            outcome if isinstance(outcome, InvalidRunResult) else outcome.prefilter_state,
            work.snapshot,
        ):
            self._steps.again(work)
        elif isinstance(outcome, InvalidRunResult):
            self._verdicts.end(work.entry, Phase.FAILED, outcome.reason, outcome.message)
            self._steps.settled(work)
        elif isinstance(outcome, Unschedulable):
            self._core.tally.rejected(outcome.rejections)
            self._verdicts.wait(work, outcome)
            self._steps.settled(work)
        else:
            self._core.tally.rejected(outcome.rejections)
            self._chosen(work, outcome)

    def checked(self, work: CheckWork, outcome: ScheduleResult | PluginFailure | None) -> None:
        """The chosen Pod was asked about again."""
        if isinstance(outcome, PluginFailure):
            self._steps.broken(work, outcome.error)
        elif outcome is None:
            self._steps.again(work)
        else:
            self._chosen(work, outcome)

    def _chosen(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Reserve the chosen Pod if all that it was chosen by is the same, else ask again first."""
        core, run = self._core, work.run
        same_pod = core.state.pods.get(run.namespace, chosen.pod.name) is chosen.pod
        moved = core.needs(work.profile).snapshot_counts and work.version != core.state.version(run.namespace)
        if not same_pod or moved or not self.holds(run, chosen.prefilter_state, work.snapshot):
            self._steps.check(work, chosen)
        else:
            self._reserving.reserve(work, chosen)

    def holds(self, run: Run, prepared: PreFilterState | InvalidRunResult, snapshot: Snapshot) -> bool:
        """Whether what the prefilters were told, by the snapshot, is still so."""
        state = self._core.state
        targets = state.targets(run.namespace)
        if targets is not snapshot.targets and not prepared.reads.hold(targets):
            return False
        known = state.workspaces.get(run.namespace, run.workspace) if run.workspace is not None else None
        told = prepared.workspace
        if told is not None and told.phase is WorkspacePhase.MISSING:
            told = None
        return known == told
