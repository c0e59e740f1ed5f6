"""Reserve, assume, bind: room on the chosen Pod, then the plugins' `reserve`, then the patch."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.engine.binding.requests import PendingBind
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.steps import Steps
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import (
    CheckWork,
    PlanWork,
    ReserveAnswer,
    ReserveWork,
    RunWork,
)
from kruntimes_core.engine.queueing.order import greatest, key_of
from kruntimes_core.engine.record.decision import TurnedDown
from kruntimes_core.engine.runs import Stage
from kruntimes_core.engine.tally import Conflict, WakeSource
from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.runtime import ScheduleResult
from kruntimes_core.model.pod import RuntimePod, shortage

# The host's own reason when its capacity check turns a chosen Pod down.
INSUFFICIENT_CAPACITY = "InsufficientCapacity"


class Reserving:
    """Reserves, or leaves out the Pods that turn the Run down and lets it be planned again."""

    def __init__(self, core: Core, steps: Steps, verdicts: Verdicts) -> None:
        self._core = core
        self._steps = steps
        self._verdicts = verdicts
        self.greatest_key: object = None
        """The greatest queue key of the Runs placed so far."""

    def reserve(self, work: PlanWork | CheckWork, chosen: ScheduleResult) -> None:
        """Reserve room on the chosen Pod, which is as it was when it was chosen."""
        core, entry = self._core, work.entry
        core.waiting.source = WakeSource.TARGET
        if not core.reservations.reserve(entry, chosen, work.profile):
            core.tally.reservation_conflicts[Conflict.RESERVE] += 1
            self._no_room(work, chosen.pod)
            return
        entry.leave()
        entry.stage = Stage.BINDING
        if core.needs(work.profile).reserves and entry.assumption is not None:
            self._steps.reserve(work, entry.assumption)
        else:
            self._bind(work)

    def reserved(self, work: ReserveWork, answer: ReserveAnswer) -> None:
        """The plugins' `reserve` was asked. The assumption may have ended meanwhile."""
        core, entry, assumption = self._core, work.entry, work.assumption
        assumption.asked = list(answer.asked)
        if entry.assumption is not assumption:
            core.reservations.give_back(assumption, bound=False)
            self._steps.settled(work)
        elif answer.broken is not None:
            core.release(entry)
            self._steps.broken(work, answer.broken)
        elif answer.turned_down is not None:
            core.release(entry)
            plugin, reject = answer.turned_down
            self._turned_down(work, {assumption.pod.name: TurnedDown(plugin.name, reject)})
        else:
            self._bind(work)

    def _no_room(self, work: RunWork, pod: RuntimePod) -> None:
        """Leave the Pod out; when it is not the first, all Pods without room.

        Then nobody filters by room, and a plan for each of them would come to nothing in turn.
        """
        run, pods = work.run, [pod]
        if any(by.plugin is None for by in work.entry.turned_down.values()):
            known = self._core.state.pods_of(run.namespace, run.runtime).values()
            pods = [pod for pod in known if not pod.fits(run.request)]
        no_room = {pod.name: Reject(INSUFFICIENT_CAPACITY, shortage(pod, run.request)) for pod in pods}
        self._turned_down(work, {name: TurnedDown(None, reject) for name, reject in no_room.items()})

    def _turned_down(self, work: RunWork, by_pod: Mapping[str, TurnedDown]) -> None:
        """Leave these Pods out and try the next best in the same cycle."""
        work.entry.turned_down = {**work.entry.turned_down, **by_pod}
        self._steps.again(work)

    def _bind(self, work: RunWork) -> None:
        core, entry = self._core, work.entry
        assumption = entry.assumption
        if assumption is None:
            raise AssertionError(f"run {entry.key} is to be bound without a reservation")
        core.outbox.put(entry, PendingBind(assumption))
        self.greatest_key = greatest(self.greatest_key, key_of(entry.order))
        self._verdicts.scheduled(work)
        if work.waiting is not None and work.waiting.swept and not work.waiting.awake:
            core.tally.rescues += 1
            work.waiting.awake = True
        self._steps.settled(work)
