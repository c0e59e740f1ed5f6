"""The steps of the cycles under way: a plan, perhaps a check of its Pod, and the plugins' `reserve`."""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import (
    CheckWork,
    Offer,
    OfferWork,
    PlanWork,
    ReserveWork,
    RunWork,
)
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.runtime import ScheduleResult


class Steps:
    """Begins cycles, lets them go on with their next step, and ends them."""

    def __init__(self, core: Core, verdicts: Verdicts) -> None:
        self._core = core
        self._verdicts = verdicts
        self._due: deque[PlanWork | CheckWork | ReserveWork] = deque()
        """Work that goes on at once with a cycle under way."""

    def next(self) -> PlanWork | CheckWork | ReserveWork | None:
        """The next step of a cycle under way, if it was not made void meanwhile."""
        while self._due:
            work = self._due.popleft()
            if work.entry.token == work.token:
                return work
            self.settled(work)
        return None

    def plan(self, entry: RunEntry, waiting: WaitingClass | None) -> PlanWork:
        """Take: the snapshot for a Run's plan, without the Pods that turned it down in this cycle."""
        core, run = self._core, entry.run
        self._begin(entry)
        return PlanWork(
            entry=entry,
            token=entry.token,
            run=run,
            profile=core.profile(run),
            waiting=waiting,
            snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
            version=core.state.version(run.namespace),
            excluded=frozenset(entry.turned_down),
        )

    def begun(self, work: OfferWork, offer: Offer) -> PlanWork:
        """The plan that was made for a Run while it waited, as one that was taken for itself."""
        self._begin(offer.entry)
        offer.entry.turned_down = NONE_TURNED_DOWN
        return PlanWork(
            entry=offer.entry,
            token=offer.entry.token,
            run=offer.run,
            profile=work.profile,
            waiting=offer.waiting,
            snapshot=work.snapshot,
            version=work.version,
        )

    def _begin(self, entry: RunEntry) -> None:
        self._core.waiting.withdraw(entry)
        entry.leave()
        entry.stage = Stage.WORKING

    def again(self, work: RunWork) -> None:
        """Plan again at once: without the Pods turned down, or from what has changed."""
        self._due.append(self.plan(work.entry, work.waiting))

    def check(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Ask again about the chosen Pod, as it is now."""
        core, run = self._core, work.run
        self._due.append(
            CheckWork(
                entry=work.entry,
                token=work.entry.token,
                run=run,
                profile=work.profile,
                waiting=work.waiting,
                snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
                version=core.state.version(run.namespace),
                pod_name=chosen.pod.name,
            )
        )

    def reserve(self, work: PlanWork | CheckWork, assumption: Assumption) -> None:
        """Ask the plugins' `reserve`: the host has reserved the room."""
        self._due.append(
            ReserveWork(
                entry=work.entry,
                token=work.entry.token,
                run=work.run,
                profile=work.profile,
                waiting=work.waiting,
                assumption=assumption,
                snapshot=work.snapshot,
            )
        )

    def broken(self, work: RunWork, error: PluginError) -> None:
        """The cycle is over, because a plugin failed."""
        self._verdicts.broken(work, error)
        self.settled(work)

    def settled(self, work: RunWork) -> None:
        """The cycle is over: the class that the Run came from goes on."""
        if work.waiting is not None:
            self._core.waiting.done(work.waiting)
