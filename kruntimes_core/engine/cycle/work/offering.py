"""Asking for the first Runs of many waiting classes at once, on one snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.cycle.work.base import Runners, RunWork
from kruntimes_core.engine.cycle.work.planning import PlanWork
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, PreFilterState, Unschedulable
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# So many questions to plugins end a round of offers: it must not take much longer than a plan may.
_QUESTIONS = 1_000


@dataclass(slots=True)
class Offer:
    """A class of waiting Runs whose Pods changed, with its first Run, which stays in it meanwhile."""

    waiting: WaitingClass
    entry: RunEntry
    token: int
    run: Run
    prepared: PreFilterState | None
    """Of the Run, when it was planned last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferWork(RunWork):
    """Plan the first Runs of some classes on one snapshot, until one of them finds a Pod.

    Most Pods that change are of use to nobody who waits, and then an offer costs a few looks at columns
    and no cycle of its own. The Run of this work is the one that comes next in the queue, if it is
    planned in the same go, else that of the first offer.
    """

    offers: tuple[Offer, ...]
    snapshot: Snapshot
    version: int
    """Of the namespace at the take."""
    then: PlanWork | None = None
    """What comes after them in the queue."""

    def execute(self, runners: Runners) -> list[PlanOutcome]:
        """What came of the offers in order, and of what comes after them, as far as they were made."""
        runner = runners.of(self.profile)
        outcomes: list[PlanOutcome] = []
        limit = runner.call_counts.pods + _QUESTIONS
        for offer in self.offers:
            try:
                outcomes.append(runner.plan(offer.run, self.snapshot, before=offer.prepared))
            except PluginError as error:
                outcomes.append(PluginFailure(error))
            if not isinstance(outcomes[-1], Unschedulable) or runner.call_counts.pods > limit:
                return outcomes
        return outcomes if self.then is None else [*outcomes, self.then.execute(runners)]
